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

interface RiskPoint {
	readonly time: number;
	readonly risk: number;
	/** Whether the risk is that of another record. */
	readonly recorded: boolean;
	/** Change since the time before; 0 for an edited history. */
	readonly growth: number;
	readonly place?: RiskCurve["places"][number] | undefined;
}

/** A line of the figure: one code, or one code of the edited history. */
export interface RiskLine {
	readonly name: string;
	/** Its place among the codes. */
	readonly index: number;
	readonly colour: string;
	readonly symbol: SymbolType;
	readonly points: readonly RiskPoint[];
	readonly surges: readonly NamedSurge[];
	readonly recordedAt?: number | undefined;
	/** The edit, of a line of the edited history. */
	readonly edit?: string;
}

/** Codes with a risk at some time, and then those of the edited history. */
export function linesOf({ curves, whatIf }: RiskPicture): RiskLine[] {
	const drawn = curves.filter(({ times }) => times.length > 0);
	const lineOf = (curve: Partial<RiskCurve> & NonNullable<typeof whatIf>["curves"][number]) => {
		const index = Math.max(
			0,
			drawn.findIndex(({ code }) => code === curve.code),
		);
		const [colour, symbol] = styles[index % styles.length];
		return {
			name: curve.name || curve.code,
			index,
			colour,
			symbol,
			points: Array.from(curve.times, (time, i) => ({
				time,
				risk: curve.risk[i],
				recorded: curve.recorded[i] === 1,
				growth: curve.growth?.[i] ?? 0,
				place: curve.places?.[i],
			})),
			surges: curve.surges ?? [],
			recordedAt: curve.recordedAt,
		};
	};
	return [
		...drawn.map(lineOf),
		...(whatIf?.curves ?? []).map((curve) => ({
			...lineOf(curve),
			surges: [],
			recordedAt: undefined,
			edit: whatIf?.name ?? "",
		})),
	];
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

export interface NumberedSurge extends NamedSurge {
	readonly number: number;
	readonly line: RiskLine;
}

/** The largest surges, numbered in order of time. */
export const numberedSurges = (lines: readonly RiskLine[], most: number): NumberedSurge[] =>
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
