import type { SymbolType } from "@observablehq/plot";
import type { IncidenceTrajectory, Surge } from "../../../predict/index.js";
import type { Clock } from "../clock.js";
import { theme } from "../theme.js";

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

export interface RiskPicture {
	readonly patient: string;
	readonly clock: Clock;
	readonly horizonDays: number;
	/** Whether it shows what was learned from a simulated population. */
	readonly simulated?: boolean;
	readonly curves: readonly RiskCurve[];
	/** The same risks for an edited history. */
	readonly whatIf?: {
		/** The edit: "without obesity". */
		readonly name: string;
		readonly curves: readonly Pick<RiskCurve, "code" | "name" | "times" | "risk" | "recorded">[];
	};
	/** Times of the observed events, without birth. */
	readonly events: readonly number[];
	/** End of the observed span. */
	readonly now: number;
	/** The time of death; null if alive or unknown. */
	readonly death: number | null;
}

/** Colours dark enough for text, and symbols that distinguish the curves without them. */
const styles = [
	[theme.accent, "circle"],
	[theme.strong, "square"],
	["#117733", "triangle"],
	["#882255", "diamond"],
	["#332288", "star"],
	["#7a6a00", "hexagon"],
	["#5a6472", "cross"],
] as const satisfies (readonly [string, SymbolType])[];

export type RiskLine = ReturnType<typeof linesOf>[number];

/** A line per code with a risk at some time, and then those of the edited history, which have the name of the edit. */
export function linesOf({ curves, whatIf }: RiskPicture) {
	const drawn = curves.filter(({ times }) => times.length > 0);
	type Line = Partial<RiskCurve> & NonNullable<typeof whatIf>["curves"][number];
	const edited = (whatIf?.curves ?? []).map((curve) => ({
		...curve,
		surges: [],
		recordedAt: undefined,
		edit: whatIf?.name,
	}));
	const lines = [...drawn.map((curve) => ({ ...curve, edit: undefined })), ...edited];
	return lines.map((line: Line & { readonly edit: string | undefined }) => {
		/** Its place among the codes. */
		const index = Math.max(
			0,
			drawn.findIndex(({ code }) => code === line.code),
		);
		const [colour, symbol] = styles[index % styles.length];
		const { surges = [], recordedAt, edit } = line;
		return {
			name: line.name || line.code,
			index,
			colour,
			symbol,
			surges,
			recordedAt,
			edit,
			points: Array.from(line.times, (time, i) => ({
				time,
				risk: line.risk[i],
				/** Whether the risk is that of another record. */
				recorded: line.recorded[i] === 1,
				/** Change since the time before. */
				growth: line.growth?.[i] ?? 0,
				place: line.places?.[i],
			})),
		};
	});
}

/** The parts of lines about first records, or those about further ones. */
export const partOf = (lines: readonly RiskLine[], recorded: boolean): RiskLine[] =>
	lines.flatMap((line) => {
		const points = line.points.filter((point) => point.recorded === recorded);
		const [first, last] = [points[0], points.at(-1)];
		if (!first || !last) return [];
		const surges = line.surges.filter(({ from, to }) => from >= first.time && to <= last.time);
		return [{ ...line, points, surges }];
	});

export type NumberedSurge = ReturnType<typeof numberedSurges>[number];

/** The largest surges, numbered in order of time. */
export const numberedSurges = (lines: readonly RiskLine[], most: number) =>
	lines
		.flatMap((line) => line.surges.map((surge) => ({ ...surge, line })))
		.sort((a, b) => b.growth - a.growth)
		.slice(0, most)
		.sort((a, b) => a.from - b.from || a.line.index - b.line.index)
		.map((surge, index) => ({ ...surge, number: index + 1 }));

/** The risk at a time, by linear interpolation. */
export function riskAt({ points }: Pick<RiskLine, "points">, time: number): number {
	const after = points.findIndex((point) => point.time >= time);
	const next = points.at(after);
	const before = points[after - 1];
	if (!next || !before || before.time === next.time) return next?.risk ?? 0;
	const share = (time - before.time) / (next.time - before.time);
	return before.risk + (next.risk - before.risk) * share;
}
