import {
	anyEvent,
	type Constraint,
	type Predicate,
	recordEnd,
	recordStart,
	type Step,
	type Task,
} from "./definition.js";

/** The events of one subject: distinct times in order and, by predicate, how often it holds at each. */
export interface SubjectEvents {
	readonly times: ArrayLike<number>;
	readonly counts: ReadonlyMap<string, ArrayLike<number>>;
}

/** What a trigger event gives: times and a label, or the first window that it does not satisfy. */
export type Realization =
	| {
			readonly trigger: number;
			/** The times of `Task.moments`. */
			readonly moments: readonly number[];
			/** How often the label's predicate holds in its window; undefined without a label. */
			readonly label: number | undefined;
	  }
	| {
			readonly trigger: number;
			readonly excluded: { readonly window: string; readonly reason: string };
	  };

/** Why a window has no bound. */
export function stepText(step: Step): string {
	if ("by" in step) return "";
	if (step.predicate === recordStart) return "starts before the record";
	if (step.predicate === recordEnd) return "starts after the record";
	return `no ${step.predicate} ${step.to === "next" ? "after" : "before"} it`;
}

/** Why a window does not satisfy a constraint. */
export const constraintText = ({ predicate, min, max }: Constraint, count: number): string =>
	count < (min ?? 0) ? `fewer than ${min} of ${predicate}` : `more than ${max} of ${predicate}`;

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
		const predicateCounts = counts.get(predicate) ?? [];
		const sums = new Float64Array(times.length + 1);
		const holds: number[] = [];
		for (let at = 0; at < times.length; at++) {
			const count = predicateCounts[at] ?? 0;
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

/** The plain predicates of a task, in order. */
export const plainPredicates = ({ predicates }: Task) =>
	[...predicates].flatMap(([name, predicate]) =>
		predicate.kind === "plain" ? [{ name, predicate }] : [],
	);

/**
 * Adds derived and special predicates to the counts of plain ones. A static predicate counts at every event what it
 * counts among the records without a time, `statics`.
 */
export function withDerived(
	predicates: ReadonlyMap<string, Predicate>,
	times: ArrayLike<number>,
	plain: ReadonlyMap<string, ArrayLike<number>>,
	statics: ReadonlyMap<string, number>,
): SubjectEvents {
	const counts = new Map<string, ArrayLike<number>>();
	const { length } = times;
	for (const [name, predicate] of predicates) {
		if (predicate.kind === "plain") {
			const count = statics.get(name) ?? 0;
			counts.set(
				name,
				predicate.isStatic ? new Int32Array(length).fill(count) : (plain.get(name) ?? []),
			);
			continue;
		}
		const parts = predicate.of.map((part) => counts.get(part) ?? []);
		const holds = (at: number) => (part: ArrayLike<number>) => (part[at] ?? 0) > 0;
		counts.set(
			name,
			Int32Array.from({ length }, (_, at) =>
				Number(predicate.kind === "and" ? parts.every(holds(at)) : parts.some(holds(at))),
			),
		);
	}
	counts.set(anyEvent, new Int32Array(length).fill(1));
	counts.set(
		recordStart,
		Int32Array.from({ length }, (_, at) => Number(at === 0)),
	);
	counts.set(
		recordEnd,
		Int32Array.from({ length }, (_, at) => Number(at === length - 1)),
	);
	return { times, counts };
}
