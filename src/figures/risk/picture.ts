import type { IncidenceTrajectory, Surge } from "../../infer/index.js";
import type { Clock } from "../clock.js";

/** A significant rise, with the phenotypes recorded in it. */
export interface NamedSurge extends Surge {
	readonly phenotypes: readonly string[];
}

export interface RiskCurve extends IncidenceTrajectory {
	readonly code: string;
	readonly name: string;
	readonly surges: readonly NamedSurge[];
}

/** The risk of an edited history. */
export type OtherCurve = Pick<RiskCurve, "code" | "name" | "times" | "risk" | "recorded">;

export interface RiskPicture {
	readonly patient?: string;
	readonly clock: Clock;
	/** The horizon of the risks, in days. */
	readonly horizonDays: number;
	/** Whether it shows what was learned from a simulated population. */
	readonly simulated?: boolean;
	readonly curves: readonly RiskCurve[];
	/** The same risks for an edited history. */
	readonly whatIf?: {
		/** The edit: "without obesity". */
		readonly name: string;
		readonly curves: readonly OtherCurve[];
	};
	/** Times of the observed events, without birth. */
	readonly events?: readonly number[];
	/** End of the observed span. */
	readonly now: number;
}

/** A surge with its number in the figure and the index of its curve. */
export type Numbered<S extends Surge> = S & { readonly number: number; readonly curve: number };

export type NumberedSurge = Numbered<NamedSurge>;

/** The largest surges, numbered in order of time. */
export function numberedSurges<S extends Surge>(
	curves: readonly { readonly surges: readonly S[] }[],
	most: number,
): Numbered<S>[] {
	return curves
		.flatMap(({ surges }, curve) => surges.map((surge) => ({ ...surge, curve })))
		.sort((a, b) => b.growth - a.growth)
		.slice(0, most)
		.sort((a, b) => a.from - b.from || a.curve - b.curve)
		.map((surge, at) => ({ ...surge, number: at + 1 }));
}

/** Names of the codes that are recorded at some of the times. */
export const recordedCodes = (curves: readonly RiskCurve[]): string[] =>
	curves.filter(({ recorded }) => recorded.includes(1)).map(({ name, code }) => name || code);

/** The risk at a time, by linear interpolation. */
export function riskAt({ times, risk }: Pick<RiskCurve, "times" | "risk">, time: number): number {
	const after = times.findIndex((at) => at >= time);
	if (after === -1) return risk.at(-1) ?? 0;
	if (after === 0) return risk[0] ?? 0;
	const [t0, t1] = [times[after - 1] as number, times[after] as number];
	const [r0, r1] = [risk[after - 1] as number, risk[after] as number];
	return t1 === t0 ? r1 : r0 + ((r1 - r0) * (time - t0)) / (t1 - t0);
}
