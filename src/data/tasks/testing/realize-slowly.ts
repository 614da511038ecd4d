import type { Constraint, Step, Task } from "../definition.js";
import { constraintText, type Realization, type SubjectEvents, stepText } from "../realize.js";

/**
 * The realizations of a task in the record of one subject: the definition of ACES, as plainly as possible. Every
 * window looks at every event.
 */
export function realizeSlowly(task: Task, { times, counts }: SubjectEvents): Realization[] {
	const events = Array.from(times, (time, at) => ({ time, at }));
	const countOf = (predicate: string, at: number) => counts.get(predicate)?.[at] ?? 0;

	const reach = (from: number, step: Step): number | undefined => {
		if ("by" in step) return from + step.by;
		const fits = events
			.filter(({ at }) => countOf(step.predicate, at) > 0)
			.filter(
				({ time }) =>
					(step.to === "next" ? time > from : time < from) || (step.inclusive && time === from),
			);
		return (step.to === "next" ? fits.at(0) : fits.at(-1))?.time;
	};

	const realize = (trigger: number): Realization => {
		const moments = [trigger];
		const counted = (window: Task["windows"][number], predicate: string) => {
			const [start, end] = [moments[window.start] as number, moments[window.end] as number];
			return events
				.filter(
					({ time }) =>
						(time > start || (window.startInclusive && time === start)) &&
						(time < end || (window.endInclusive && time === end)),
				)
				.reduce((sum, { at }) => sum + countOf(predicate, at), 0);
		};
		const isMet = ({ min, max }: Constraint, count: number) =>
			count >= (min ?? 0) && count <= (max ?? Number.POSITIVE_INFINITY);
		for (const window of task.windows) {
			for (const at of [window.start, window.end].sort((a, b) => a - b)) {
				const { from, step } = task.moments[at] as Task["moments"][number];
				const time = reach(moments[from] as number, step);
				if (time === undefined)
					return { trigger, excluded: { window: window.name, reason: stepText(step) } };
				moments[at] = time;
			}
			for (const constraint of window.has) {
				const count = counted(window, constraint.predicate);
				if (!isMet(constraint, count))
					return {
						trigger,
						excluded: { window: window.name, reason: constraintText(constraint, count) },
					};
			}
		}
		const { label } = task;
		return { trigger, moments, label: label && counted(label.window, label.predicate) };
	};

	return events.filter(({ at }) => countOf(task.trigger, at) > 0).map(({ time }) => realize(time));
}
