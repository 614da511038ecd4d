import { axisX, dot, type Markish, rect, ruleY, text } from "@observablehq/plot";
import { durationName } from "../../../base/time.js";
import { timeAxis } from "../clock.js";
import { type Panel, quietAxis } from "../figure.js";
import { avoidOverlap } from "../placement.js";
import { fitted, textWidth } from "../text.js";
import { theme } from "../theme.js";
import { badge, curveColour, nowRule, observedShade, type RiskLayout } from "./layout.js";
import type { NumberedSurge, RiskCurve, RiskPicture } from "./picture.js";

const [fewHeight, manyHeight] = [56, 34];
const few = 4;
/** Height above the bars, for numbers and the name of the curve. */
const headHeight = 24;
const marginBottom = 40;
const nameType = { size: theme.size.tick, bold: true };
const mostNameWidth = 240;

/** The change of each risk between two times; the bars of numbered surges are highlighted. */
export function growthPanel(
	{ curves, clock }: RiskPicture,
	layout: RiskLayout,
	surges: readonly NumberedSurge[],
): Panel {
	const { domain, marginLeft, marginRight, inner } = layout;
	const drawn = [...curves.entries()].filter(([, { times }]) => times.length > 0);
	const barsHeight = drawn.length > few ? manyHeight : fewHeight;
	const height = drawn.length * (barsHeight + headHeight);
	const axis = timeAxis(clock, domain, Math.floor(inner / 70));
	const step = stepDays(curves);
	return {
		title: "Growth",
		subtitle: `change of the risk from one time to the next${
			step === undefined ? "" : `, ${durationName(step)} apart`
		}, in percentage points`,
		height: height + marginBottom,
		plot: () => ({
			marginLeft,
			marginRight,
			marginTop: 0,
			marginBottom,
			x: { domain: [...domain] },
			y: { domain: [height, 0], axis: null },
			marks: [
				...observedShade(layout, 0, height),
				...nowRule(layout),
				axisX(axis.ticks, { ...quietAxis, label: axis.label, text: axis.format }),
				...drawn.flatMap(([curveIndex, curve], row) =>
					strip(curve, curveIndex, row, layout, {
						surges: surges.filter((surge) => surge.curve === curveIndex),
						hasName: curves.length > 1,
						barsHeight,
					}),
				),
			],
		}),
	};
}

/** The median step; undefined if there is none. */
function stepDays(curves: readonly RiskCurve[]): number | undefined {
	const times = curves.find(({ times }) => times.length > 0)?.times ?? new Float64Array();
	const steps = Array.from(times.slice(1), (time, index) => time - times[index]).sort(
		(a, b) => a - b,
	);
	const middle = steps[Math.floor(steps.length / 2)];
	return middle === undefined || middle === 0 ? undefined : middle;
}

interface Strip {
	readonly surges: readonly NumberedSurge[];
	/** Whether the name of its curve is above it. */
	readonly hasName: boolean;
	readonly barsHeight: number;
}

/** Bars of one curve, below its name and the numbers of its surges. */
function strip(
	curve: RiskCurve,
	curveIndex: number,
	row: number,
	layout: RiskLayout,
	{ surges, hasName, barsHeight }: Strip,
): Markish[] {
	const colour = curveColour(curveIndex);
	const top = row * (barsHeight + headHeight) + headHeight;
	const name = hasName ? fitted(curve.name || curve.code, mostNameWidth, nameType) : "";
	const values = Array.from(curve.growth, (value) => 100 * (Number.isFinite(value) ? value : 0));
	const most = values.reduce((most, value) => Math.max(most, value), 0);
	const least = values.reduce((least, value) => Math.min(least, value), 0);
	const span = most - least || 1;
	const y = (value: number) => top + 3 + ((most - value) / span) * (barsHeight - 6);
	const inSurge = (time: number) => surges.some(({ from, to }) => time > from && time <= to);
	const bars = values.slice(1).map((value, before) => ({
		x1: curve.times[before],
		x2: curve.times[before + 1],
		y1: y(0),
		y2: y(value),
		risen: inSurge(curve.times[before + 1]),
	}));
	const centres = avoidOverlap(
		surges.map(({ from, to }) => layout.pixel((from + to) / 2)),
		surges.map(() => 2 * badge.r + 2),
		[
			layout.marginLeft + (hasName ? textWidth(name, nameType) + 12 : 0),
			layout.marginLeft + layout.inner,
		],
	);
	const digits = span < 0.2 ? 3 : span < 2 ? 2 : 1;
	const ends = [
		{ value: 0, words: "0" },
		...(most > 0.25 * span ? [{ value: most, words: `+${most.toFixed(digits)}` }] : []),
		...(least < -0.25 * span ? [{ value: least, words: `−${(-least).toFixed(digits)}` }] : []),
	];
	const shape = { x1: "x1", x2: "x2", y1: "y1", y2: "y2" } as const;
	return [
		rect(
			bars.filter(({ risen }) => !risen),
			{ ...shape, fill: theme.neutral },
		),
		rect(
			bars.filter(({ risen }) => risen),
			{ ...shape, fill: colour },
		),
		ruleY([y(0)], { stroke: theme.quiet, strokeWidth: 0.8 }),
		text(ends, {
			y: ({ value }) => y(value),
			frameAnchor: "left",
			textAnchor: "end",
			dx: -8,
			text: "words",
			fill: theme.quiet,
		}),
		...(hasName
			? [
					text([name], {
						y: [top - headHeight / 2],
						frameAnchor: "left",
						textAnchor: "start",
						dx: 5,
						fill: colour,
						fontWeight: "bold",
					}),
				]
			: []),
		dot(centres, {
			x: layout.timeAt,
			y: () => top - headHeight / 2,
			...badge,
			stroke: colour,
		}),
		text(surges, {
			x: (_, index) => layout.timeAt(centres[index] ?? 0),
			y: () => top - headHeight / 2,
			text: ({ number }) => `${number}`,
			fontSize: theme.size.small,
			fontWeight: "bold",
		}),
	];
}
