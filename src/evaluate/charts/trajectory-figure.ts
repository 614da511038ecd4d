import { dot, rect, ruleX, ruleY, text } from "@observablehq/plot";
import { thousands } from "../../base/thousands.js";
import { yearDays } from "../../base/time.js";
import { type Clock, spanName, timeAxis, timeName } from "./clock.js";
import { type Figure, gridAxisX, label, legendPanel, type Panel } from "./figure.js";
import { counted, groupBy, percent } from "./numbers.js";
import { lanesOf } from "./placement.js";
import { fitted, textWidth } from "./text.js";
import { rowWidth, theme } from "./theme.js";

/** Columns of the legend; a long name needs wider ones. */
const columnsFor = (targetName: string) =>
	targetName === "" ? 3 : textWidth(larger(targetName), { size: theme.size.tick }) < 190 ? 4 : 2;

const larger = (name: string) => `larger: ${name}`;

/** One patient's events: those shown to the model, and which of the later ones it predicted. */
export function trajectoryFigure(trajectory: DiseaseTrajectory): Figure {
	const { patient, clock, lookUp, forecast, targets = [], top = 10, death } = trajectory;
	const events = drawnEvents(trajectory);
	const matched = forecast.filter(({ matched }) => matched).length;
	const recall = forecast.length > 0 ? percent(matched / forecast.length) : undefined;
	const targetNames = [...lookUp, ...forecast]
		.filter(({ code }) => targets.includes(code))
		.map(({ name, code }) => name || code);
	const targetName = [...new Set(targetNames)].join(", ");
	const title = patient === undefined ? "Disease trajectory" : `Disease trajectory of ${patient}`;
	const times = events.map(({ time }) => time);
	const diagnosis = events.filter(({ target }) => target).map(({ time }) => time);
	const span =
		times.length > 0 ? spanName(clock, Math.min(...times), Math.max(...times)) : "no events";
	const foreseen = `${thousands(matched)} of ${counted(forecast.length, "later event")} ${matched === 1 ? "was" : "were"} among the ${top} likeliest codes at their time`;
	const styles = markStyles();
	const count = (fate: Fate) => thousands(events.filter((event) => event.fate === fate).length);
	return {
		title,
		subtitle: [
			span,
			...(recall === undefined ? [] : [`recall@${top} ${recall}`]),
			...(diagnosis.length > 0
				? [`dashed: ${targetName} first recorded, ${timeName(clock, Math.min(...diagnosis))}`]
				: []),
			...(death === undefined || death === null ? [] : [`died at ${timeName(clock, death)}`]),
		].join(" · "),
		description: `${title}, ${span}: the model saw ${counted(lookUp.length, "event")}. ${
			recall === undefined ? "No event came after." : `${foreseen}, a recall of ${recall}.`
		}`,
		rows:
			events.length === 0
				? []
				: [
						[timelinePanel(trajectory, events, recall)],
						[
							legendPanel(
								[
									{ name: "seen in the look-up window", says: count("seen"), style: styles.seen },
									{
										name: `among the ${top} likeliest`,
										says: count("matched"),
										style: styles.matched,
									},
									{ name: "not among them", says: count("missed"), style: styles.missed },
									...(targetName === ""
										? []
										: [{ name: larger(targetName), style: markStyles(true).matched }]),
								],
								{ title: "Events", columns: columnsFor(targetName) },
							),
						],
					],
		notes: events.length === 0 ? ["This patient has no events."] : [],
	};
}

interface TrajectoryEvent {
	readonly time: number;
	readonly code: string;
	readonly name: string;
	readonly category: string | null;
}

interface ForecastEvent extends TrajectoryEvent {
	/** Whether its code was among the `top` predicted codes. */
	readonly matched: boolean;
}

export interface DiseaseTrajectory {
	readonly patient?: string;
	readonly clock: Clock;
	/** Events shown to the model. */
	readonly lookUp: readonly TrajectoryEvent[];
	/** Events observed after them. */
	readonly forecast: readonly ForecastEvent[];
	/** Codes to draw larger: the disease that the figure is about. */
	readonly targets?: readonly string[];
	/** Number of predicted codes that count as a match. Default: 10. */
	readonly top?: number;
	/** The time of death; null or undefined if alive or unknown. */
	readonly death?: number | null;
	/** What a row contains. */
	readonly rows?: "category" | "code";
}

/** Shown to the model, or later and predicted, or not predicted. */
type Fate = "seen" | "matched" | "missed";

/** An event of the drawing. */
interface Drawn {
	readonly time: number;
	readonly row: string;
	readonly fate: Fate;
	readonly target: boolean;
}

function drawnEvents({ lookUp, forecast, targets = [], rows = "category" }: DiseaseTrajectory) {
	const drawn = (event: TrajectoryEvent, fate: Fate): Drawn => ({
		time: event.time,
		row: rows === "code" ? event.name || event.code : (event.category ?? "no category"),
		fate,
		target: targets.includes(event.code),
	});
	return [
		...lookUp.map((event) => drawn(event, "seen")),
		...forecast.map((event) => drawn(event, event.matched ? "matched" : "missed")),
	];
}

const radius = 4.2;
const targetRadius = 7;

/** Mark styles of events, larger for the target disease; the cross works without colour. */
function markStyles(target = false) {
	const r = target ? targetRadius : radius;
	const colour = target ? theme.strong : theme.accent;
	const circle = { symbol: "circle", r } as const;
	const crossed = target ? theme.strong : theme.quiet;
	return {
		seen: [
			{
				...circle,
				fill: theme.background,
				stroke: target ? theme.strong : theme.ink,
				strokeWidth: target ? 2 : 1.2,
			},
		],
		matched: [{ ...circle, fill: colour, stroke: colour, strokeWidth: 1.2 }],
		missed: [
			{ ...circle, fill: theme.background, stroke: crossed, strokeWidth: target ? 1.8 : 1 },
			{ symbol: "times", r: r * 0.6, stroke: crossed, strokeWidth: target ? 1.8 : 1.1 },
		],
	} as const;
}

interface Row {
	readonly name: string;
	readonly events: readonly (Drawn & { readonly y: number })[];
	readonly top: number;
	readonly height: number;
}

const laneHeight = 11;
const mostLanes = 6;

/** Assigns overlapping events of a row to lanes, one below the other. */
function inLanes(groups: readonly (readonly [string, readonly Drawn[]])[], scale: number): Row[] {
	let top = 0;
	return groups.map(([name, of]) => {
		const events = of.toSorted((a, b) => a.time - b.time);
		const lanes = lanesOf(
			events.map(({ time, target }) => ({ x: time * scale, r: target ? targetRadius : radius })),
			mostLanes,
		);
		const large = of.some(({ target }) => target);
		const step = large ? laneHeight + 4 : laneHeight;
		const height = (Math.max(-1, ...lanes) + 1) * step + 12;
		const row = {
			name,
			top,
			height,
			events: events.map((event, index) => ({
				...event,
				y: top + 6 + (lanes[index] + 0.5) * step,
			})),
		};
		top += height;
		return row;
	});
}

const type = { size: theme.size.tick };
const mostRows = 30;
const [marginBottom, marginRight] = [40, 14];

/** Rows of events over time, the look-up window shaded. */
function timelinePanel(
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
				...gridAxisX(axis.ticks, axis.label, axis.format),
				ruleY(rows.map(({ top }) => top).concat(bottom), { stroke: theme.grid }),
				...(forecast.length > 0 && lookUp.length > 0
					? [ruleX([border], { stroke: theme.ink, strokeWidth: 1.2 })]
					: []),
				ruleX(diagnosis.length > 0 ? [Math.min(...diagnosis)] : [], {
					stroke: theme.strong,
					strokeWidth: 1.6,
					strokeDasharray: "3,2",
				}),
				ruleX(died, { stroke: theme.ink, strokeWidth: 2 }),
				text(rows, {
					y: ({ top, height }) => top + height / 2,
					frameAnchor: "left",
					textAnchor: "end",
					dx: -8,
					text: ({ name }) => fitted(name, marginLeft - 10, type),
				}),
				...bands.map(({ words, pixel, line }) =>
					label(words, domain[0] + pixel / scale, 0, {
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
