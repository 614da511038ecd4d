import { axisX, dot, gridX, rect, ruleX, ruleY, text } from "@observablehq/plot";
import { yearDays } from "../../../base/time.js";
import { quietAxis } from "../axes.js";
import { timeAxis } from "../clock.js";
import type { Panel } from "../figure.js";
import { groupBy } from "../group-by.js";
import { counted } from "../numbers.js";
import { fitted, textWidth } from "../text.js";
import { rowWidth, theme } from "../theme.js";
import type { DiseaseTrajectory, Drawn } from "./events.js";
import { inLanes } from "./lanes.js";
import { markStyles } from "./marks.js";

const type = { size: theme.size.tick };
const mostRows = 30;
const [marginBottom, marginRight] = [40, 14];

/** Rows of events over time, the look-up window shaded. */
export function timelinePanel(
	{ clock, lookUp, forecast, top = 10, death }: DiseaseTrajectory,
	events: readonly Drawn[],
	recall: string | undefined,
): Panel {
	const times = events.map(({ time }) => time);
	const [first, lastEvent] = [Math.min(...times), Math.max(...times)];
	const died =
		death !== undefined && death !== null && death <= lastEvent + yearDays ? [death] : [];
	const last = Math.max(lastEvent, ...died);
	const diagnosis = events.filter(({ target }) => target).map(({ time }) => time);
	const room = (last - first || yearDays) * 0.02;
	const domain: [number, number] = [first - room, last + room];
	const lookUpEnd = lookUp.reduce((end, { time }) => Math.max(end, time), first);
	const laterBegin = forecast.reduce((begin, { time }) => Math.min(begin, time), domain[1]);
	const border =
		forecast.length > 0 ? Math.min(lookUpEnd + room / 3, (lookUpEnd + laterBegin) / 2) : domain[1];
	const groups = [...groupBy(events, ({ row }) => row)].sort(([, a], [, b]) => b.length - a.length);
	const names = groups.slice(0, mostRows).map(([name]) => name);
	// Lanes are computed for the width of a full row, because row heights are needed before the width is known.
	const marginLeft = marginFor(names);
	const inner = rowWidth - marginLeft - marginRight;
	const scale = inner / (domain[1] - domain[0]);
	const rows = inLanes(groups.slice(0, mostRows), scale);
	const end = rows.at(-1);
	const bottom = end ? end.top + end.height : 1;
	const bands = windowLabels(
		`look-up window: ${counted(lookUp.length, "event")}`,
		forecast.length === 0
			? ""
			: `forecast window: ${counted(forecast.length, "event")}, recall@${top} ${recall}`,
		(border - domain[0]) * scale,
		inner,
	);
	const marginTop = 22 + 15 * Math.max(...bands.map(({ line }) => line));
	const axis = timeAxis(clock, domain, Math.floor(inner / 75));
	const timeAt = (pixel: number) => domain[0] + pixel / scale;
	return {
		title: "Events by time",
		subtitle:
			groups.length > mostRows
				? `the ${mostRows} rows with the most events; ${counted(groups.length - mostRows, "row")} not drawn`
				: "each circle is an event",
		height: bottom + marginTop + marginBottom,
		plot: () => ({
			marginLeft,
			marginRight,
			marginTop,
			marginBottom,
			x: { domain },
			y: { domain: [bottom, 0], axis: null },
			marks: [
				...(lookUp.length > 0
					? [rect([0], { x1: [domain[0]], x2: [border], y1: [0], y2: [bottom], fill: theme.shade })]
					: []),
				gridX(axis.ticks, { stroke: theme.grid, strokeOpacity: 1 }),
				ruleY(rows.map(({ top }) => top).concat(bottom), { stroke: theme.grid }),
				...(forecast.length > 0 && lookUp.length > 0
					? [ruleX([border], { stroke: theme.ink, strokeWidth: 1.2 })]
					: []),
				ruleX(diagnosis.length > 0 ? [Math.min(...diagnosis)] : [], {
					...{ stroke: theme.strong, strokeWidth: 1.6, strokeDasharray: "3,2" },
				}),
				ruleX(died, { stroke: theme.ink, strokeWidth: 2 }),
				axisX(axis.ticks, { ...quietAxis, label: axis.label, text: axis.format }),
				text(rows, {
					y: ({ top, height }) => top + height / 2,
					frameAnchor: "left",
					textAnchor: "end",
					dx: -8,
					text: ({ name }) => fitted(name, marginLeft - 10, type),
				}),
				...bands.map(({ words, pixel, line }) =>
					text([words], {
						x: [timeAt(pixel)],
						y: [0],
						textAnchor: "start",
						dx: 2,
						dy: -10 - 15 * line,
						fontWeight: "bold",
					}),
				),
				...rows.flatMap(({ events }) =>
					[false, true].flatMap((target) => {
						const styles = markStyles(target);
						return (["seen", "missed", "matched"] as const).flatMap((fate) => {
							const of = events.filter((e) => e.fate === fate && e.target === target);
							return of.length === 0
								? []
								: styles[fate].map((style) => dot(of, { x: "time", y: "y", ...style }));
						});
					}),
				),
			],
		}),
	};
}

const marginFor = (names: readonly string[]) =>
	Math.ceil(Math.min(rowWidth * 0.3, Math.max(...names.map((name) => textWidth(name, type))))) + 12;

interface BandLabel {
	readonly words: string;
	/** Distance from the left of the frame. */
	readonly pixel: number;
	/** 0 just above the frame, 1 a line higher. */
	readonly line: number;
}

/** Each label is above its window if it fits, else moved to the left, and then above the other. */
function windowLabels(before: string, after: string, border: number, inner: number): BandLabel[] {
	const bold = { ...type, bold: true };
	if (after === "") return [{ words: before, pixel: 0, line: 0 }];
	const pixel = Math.max(0, Math.min(border, inner - textWidth(after, bold) - 4));
	const collides = textWidth(before, bold) + 10 > pixel;
	return [
		{ words: before, pixel: 0, line: collides ? 1 : 0 },
		{ words: after, pixel, line: 0 },
	];
}
