import type { Step, Task } from "./definition.js";
import { constraintText, type Realization, type SubjectEvents, stepText } from "./realization.js";

/** The number of times before `time`, or up to and including it; `times` are in order. */
function rank(times: ArrayLike<number>, time: number, included: boolean): number {
	let [low, high] = [0, times.length];
	while (low < high) {
		const middle = (low + high) >> 1;
		const value = times[middle] as number;
		if (value < time || (included && value === time)) low = middle + 1;
		else high = middle;
	}
	return low;
}

/** The same realizations as `realizeSlowly`, by running sums and binary search. */
export function realize(task: Task, { times, counts }: SubjectEvents): Realization[] {
	const prepared = new Map<string, { sums: Float64Array; holds: number[] }>();
	const of = (predicate: string) => {
		const known = prepared.get(predicate);
		if (known) return known;
		const own = counts.get(predicate) ?? [];
		const sums = new Float64Array(times.length + 1);
		const holds: number[] = [];
		for (let at = 0; at < times.length; at++) {
			const count = own[at] ?? 0;
			sums[at + 1] = (sums[at] as number) + count;
			if (count > 0) holds.push(times[at] as number);
		}
		const made = { sums, holds };
		prepared.set(predicate, made);
		return made;
	};

	const reach = (from: number, step: Step): number | undefined => {
		if ("by" in step) return from + step.by;
		const { holds } = of(step.predicate);
		return step.to === "next"
			? holds[rank(holds, from, !step.inclusive)]
			: holds[rank(holds, from, step.inclusive) - 1];
	};

	const counted = (
		window: Task["windows"][number],
		moments: readonly number[],
		predicate: string,
	) => {
		const { sums } = of(predicate);
		const before = rank(times, moments[window.start] as number, !window.startInclusive);
		const after = rank(times, moments[window.end] as number, window.endInclusive);
		return Math.max(0, (sums[after] as number) - (sums[before] as number));
	};

	return of(task.trigger).holds.map((trigger): Realization => {
		const moments = [trigger];
		const exclude = (window: string, reason: string) => ({ trigger, excluded: { window, reason } });
		for (const window of task.windows) {
			const [first, second] = [
				Math.min(window.start, window.end),
				Math.max(window.start, window.end),
			];
			for (const at of [first, second]) {
				const { from, step } = task.moments[at] as Task["moments"][number];
				const time = reach(moments[from] as number, step);
				if (time === undefined) return exclude(window.name, stepText(step));
				moments[at] = time;
			}
			for (const constraint of window.has) {
				const count = counted(window, moments, constraint.predicate);
				if (count < (constraint.min ?? 0) || count > (constraint.max ?? Number.POSITIVE_INFINITY))
					return exclude(window.name, constraintText(constraint, count));
			}
		}
		const { label } = task;
		return { trigger, moments, label: label && counted(label.window, moments, label.predicate) };
	});
}
