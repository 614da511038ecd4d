import type { IncidenceTrajectory, Surge } from "../../../predict/index.js";
import type { Clock } from "../clock.js";

/** A significant rise, with the phenotypes recorded in it. */
export interface NamedSurge extends Surge {
	readonly phenotypes: readonly string[];
}

export interface RiskCurve extends IncidenceTrajectory {
	readonly code: string;
	readonly name: string;
	readonly surges: readonly NamedSurge[];
	/** The time of the first record; undefined if there is none. */
	readonly recordedAt?: number | undefined;
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
	/** The time of death; null or undefined if alive or unknown. */
	readonly death?: number | null;
}

/**
 * The part of a picture about first records, or that about further ones: two quantities with scales of their own.
 * Curves keep their places; one without such a part has no times.
 */
export function partOf(picture: RiskPicture, recorded: boolean): RiskPicture {
	const { curves, whatIf } = picture;
	return {
		...picture,
		curves: curves.map((curve) => {
			const kept = timesOf(curve, recorded);
			const [from, to] = [curve.times[kept[0] ?? -1], curve.times[kept.at(-1) ?? -1]];
			return {
				...curve,
				...numbersAt(curve, kept),
				growth: pick(curve.growth, kept),
				places: kept.map((index) => curve.places[index]),
				surges: curve.surges.filter(
					(surge) => from !== undefined && surge.from >= from && surge.to <= to,
				),
			};
		}),
		...(whatIf && {
			whatIf: {
				...whatIf,
				curves: whatIf.curves.map((curve) => ({
					...curve,
					...numbersAt(curve, timesOf(curve, recorded)),
				})),
			},
		}),
	};
}

const timesOf = ({ times, recorded }: OtherCurve, wanted: boolean) =>
	[...times.keys()].filter((index) => (recorded[index] === 1) === wanted);

const pick = (values: Float64Array, indices: readonly number[]) =>
	Float64Array.from(indices, (index) => values[index]);

const numbersAt = ({ times, risk, recorded }: OtherCurve, indices: readonly number[]) => ({
	times: pick(times, indices),
	risk: pick(risk, indices),
	recorded: Uint8Array.from(indices, (index) => recorded[index]),
});

/** Whether some curve has times. */
export const isDrawn = ({ curves, whatIf }: RiskPicture): boolean =>
	[...curves, ...(whatIf?.curves ?? [])].some(({ times }) => times.length > 0);

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
		.map((surge, index) => ({ ...surge, number: index + 1 }));
}

/** Names of the codes that are recorded at some of the times. */
export const recordedCodes = (curves: readonly RiskCurve[]): string[] =>
	curves.filter(({ recorded }) => recorded.includes(1)).map(({ name, code }) => name || code);

/** The risk at a time, by linear interpolation. */
export function riskAt({ times, risk }: Pick<RiskCurve, "times" | "risk">, time: number): number {
	const after = times.findIndex((known) => known >= time);
	if (after === -1) return risk.at(-1) ?? 0;
	if (after === 0) return risk[0] ?? 0;
	const [t0, t1] = [times[after - 1], times[after]];
	const [r0, r1] = [risk[after - 1], risk[after]];
	return t1 === t0 ? r1 : r0 + ((r1 - r0) * (time - t0)) / (t1 - t0);
}
