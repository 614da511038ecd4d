import { anyEvent, type Predicate, recordEnd, recordStart, type Task } from "./definition.js";
import type { SubjectEvents } from "./realization.js";

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
