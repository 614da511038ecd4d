import {
	anyEvent,
	type Constraint,
	recordEnd,
	recordStart,
	type Step,
	type Task,
} from "../definition.js";
import { stepText } from "../extract.js";

/** An event of one subject, and how often each plain predicate holds at it. */
export interface PlainEvent {
	readonly time: number;
	readonly counts: Readonly<Record<string, number>>;
}

/** What a trigger event gives: times and a label, or the first window that it does not satisfy. */
export type Realization =
	| { readonly moments: readonly number[]; readonly label: number | null }
	| { readonly window: string; readonly reason: string };

const constraintText = ({ predicate, min, max }: Constraint, count: number): string =>
	count < (min ?? 0) ? `fewer than ${min} of ${predicate}` : `more than ${max} of ${predicate}`;

/**
 * The realizations of a task in the record of one subject: the definition of ACES, as plainly as possible. Every
 * window looks at every event.
 */
export function realizeSlowly(task: Task, record: readonly PlainEvent[]): Realization[] {
	const events = record.map(({ time }, at) => ({ time, at }));
	const countOf = (name: string, at: number): number => {
		if (name === anyEvent) return 1;
		if (name === recordStart) return Number(at === 0);
		if (name === recordEnd) return Number(at === events.length - 1);
		const predicate = task.predicates.get(name);
		if (predicate === undefined || predicate.kind === "plain") return record[at]?.counts[name] ?? 0;
		const holds = predicate.of.map((part) => countOf(part, at) > 0);
		return Number(predicate.kind === "and" ? holds.every(Boolean) : holds.some(Boolean));
	};

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
				if (time === undefined) return { window: window.name, reason: stepText(step) };
				moments[at] = time;
			}
			for (const constraint of window.has) {
				const count = counted(window, constraint.predicate);
				if (!isMet(constraint, count))
					return { window: window.name, reason: constraintText(constraint, count) };
			}
		}
		const { label } = task;
		return { moments, label: label ? counted(label.window, label.predicate) : null };
	};

	return events.filter(({ at }) => countOf(task.trigger, at) > 0).map(({ time }) => realize(time));
}
