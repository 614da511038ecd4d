import type { TimeScale } from "./time-scale.js";
import type { TimelineRow } from "./timeline-layout.js";

/** A record of a future. */
export interface FutureRecord {
	/** The number of the future. */
	readonly lane: number;
	readonly token: number;
	readonly time: number;
	readonly category: string;
}

interface Placing {
	readonly scale: TimeScale;
	readonly top: number;
	readonly colourOf: (token: number) => string | undefined;
	readonly nameOf: (token: number) => string;
}

export interface FuturePath {
	readonly key: string;
	readonly d: string;
	/** Bars of the share of futures with a record, or ticks of the records of each. */
	readonly kind: "share" | "records";
	/** Of a chosen condition. */
	readonly colour?: string;
	/** Height of a tick. */
	readonly width?: number;
}

/** Widths in pixels. */
const [bar, tick] = [6, 4];
const margin = 2;

/**
 * What each row shows of futures. A category or a code: how large a share has a record, over time. An opened
 * category: all records, one lane per future. In both, those of chosen conditions are ticks in their colour.
 */
export function futurePaths(
	{ lanes, records }: { readonly lanes: number; readonly records: readonly FutureRecord[] },
	rows: readonly TimelineRow[],
	{ scale, top, colourOf, nameOf }: Placing,
): FuturePath[] {
	const drawn = records.filter(({ time }) => scale.inside(time));
	return rows.flatMap((row) => {
		const own = drawn.filter(
			({ category, token }) =>
				category === row.category && (row.kind !== "code" || nameOf(token) === row.name),
		);
		const first = top + row.top + row.head + margin;
		const height = row.height - row.head - 2 * margin;
		const lane = height / lanes;
		const key = `${row.category} ${row.kind} ${row.name}`;
		const ticksOf = (some: readonly FutureRecord[]) =>
			some
				.map(
					({ time, lane: at }) =>
						`M${scale.x(time).toFixed(1)} ${(first + (at + 0.5) * lane).toFixed(1)}h${tick}`,
				)
				.join("");
		const colours = new Set(own.flatMap(({ token }) => colourOf(token) ?? []));
		const isLanes = row.kind === "opened";
		const plain: FuturePath = isLanes
			? { key, kind: "records", d: ticksOf(own), width: lane }
			: { key, kind: "share", d: bars(own, lanes, scale, first, height) };
		return [
			plain,
			...[...colours].map((colour) => ({
				...{ key: `${key} ${colour}`, kind: "records" as const, colour, width: Math.max(2, lane) },
				d: ticksOf(own.filter(({ token }) => colourOf(token) === colour)),
			})),
		].filter(({ d }) => d !== "");
	});
}

/** Bars of the share of futures with a record in their time, as high as the row for all. */
function bars(
	records: readonly FutureRecord[],
	lanes: number,
	scale: TimeScale,
	first: number,
	height: number,
): string {
	const reached = new Map<number, Set<number>>();
	for (const { time, lane } of records) {
		const at = Math.floor((scale.x(time) - scale.left) / bar);
		reached.set(at, (reached.get(at) ?? new Set()).add(lane));
	}
	return [...reached]
		.map(([at, { size }]) => {
			const high = (height * size) / lanes;
			return `M${(scale.left + at * bar).toFixed(1)} ${(first + height).toFixed(1)}v${(-high).toFixed(1)}h${bar}v${high.toFixed(1)}z`;
		})
		.join("");
}
