import { type Constraint, recordEnd, recordStart, type Step } from "./definition.js";

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
