import { dot, rect, ruleX, ruleY } from "@observablehq/plot";
import { thousands } from "../../base/thousands.js";
import { yearDays } from "../../base/time.js";
import { type Clock, spanName, timeAxis, timeName } from "./clock.js";
import { type Figure, framed, gridAxisX, legendPanel, namesOfRows, type Panel } from "./figure.js";
import { counted, facts, groupBy, percent } from "./numbers.js";
import { lanesOf } from "./placement.js";
import { textWidth } from "./text.js";
import { theme } from "./theme.js";

interface TrajectoryEvent {
	readonly time: number;
	readonly code: string;
	readonly name: string;
	readonly category: string | null;
}

export interface DiseaseTrajectory {
	readonly patient: string;
	readonly clock: Clock;
	/** Events shown to the model. */
	readonly lookUp: readonly TrajectoryEvent[];
	/** Events observed after them, and whether their codes were among the `top` predicted ones. */
	readonly forecast: readonly (TrajectoryEvent & { readonly matched: boolean })[];
	/** Codes to draw larger: the disease that the figure is about. */
	readonly targets: readonly string[];
	/** Number of predicted codes that count as a match. */
	readonly top: number;
	/** The time of death; null if alive or unknown. */
	readonly death: number | null;
}

/** Shown to the model, or later and predicted, or not predicted. */
const fates = ["seen", "missed", "matched"] as const;

/** One patient's events: those shown to the model, and which of the later ones it predicted. */
export function trajectoryFigure(trajectory: DiseaseTrajectory): Figure {
	const { patient, clock, lookUp, forecast, targets, top, death } = trajectory;
	const events = drawnEvents(trajectory);
	const matched = forecast.filter(({ matched }) => matched).length;
	const recall = forecast.length > 0 ? percent(matched / forecast.length) : undefined;
	const targetNames = [...lookUp, ...forecast]
		.filter(({ code }) => targets.includes(code))
		.map(({ name, code }) => name || code);
	const targetName = [...new Set(targetNames)].join(", ");
	const title = `Disease trajectory of ${patient}`;
	const shown = `the model saw ${counted(lookUp.length, "event")}`;
	if (events.length === 0)
		return {
			title,
			subtitle: "no events",
			description: `${title}, no events: ${shown}. No event came after.`,
			rows: [],
			notes: ["This patient has no events."],
		};
	const times = events.map(({ time }) => time);
	const diagnosed = firstOf(events.filter(({ target }) => target));
	const span = spanName(clock, Math.min(...times), Math.max(...times));
	const foreseen = `${thousands(matched)} of ${counted(forecast.length, "later event")} ${matched === 1 ? "was" : "were"} among the ${top} likeliest codes at their time, a recall of ${recall}.`;
	const legendItem = (name: string, fate: Drawn["fate"]) => ({
		name,
		says: thousands(events.filter((event) => event.fate === fate).length),
		style: markStyles()[fate],
	});
	const larger = { name: `larger: ${targetName}`, style: markStyles(true).matched };
	// A long name needs wider columns.
	const columns = targetName === "" ? 3 : textWidth(larger.name) >= 190 ? 2 : 4;
	const legend = [
		legendItem("seen in the look-up window", "seen"),
		legendItem(`among the ${top} likeliest`, "matched"),
		legendItem("not among them", "missed"),
		...(targetName === "" ? [] : [larger]),
	];
	return {
		title,
		subtitle: facts(
			span,
			recall && `recall@${top} ${recall}`,
			diagnosed !== undefined &&
				`dashed: ${targetName} first recorded, ${timeName(clock, diagnosed)}`,
			death !== null && `died at ${timeName(clock, death)}`,
		),
		description: `${title}, ${span}: ${shown}. ${recall === undefined ? "No event came after." : foreseen}`,
		rows: [
			[timelinePanel(trajectory, events, diagnosed)],
			[legendPanel(legend, { title: "Events", columns })],
		],
	};
}

const firstOf = (events: readonly { readonly time: number }[]): number | undefined =>
	events.length > 0 ? Math.min(...events.map(({ time }) => time)) : undefined;

type Drawn = ReturnType<typeof drawnEvents>[number];

function drawnEvents({ lookUp, forecast, targets }: DiseaseTrajectory) {
	const drawn = ({ time, code, category }: TrajectoryEvent, fate: (typeof fates)[number]) => ({
		time,
		row: category ?? "no category",
		fate,
		target: targets.includes(code),
	});
	return [
		...lookUp.map((event) => drawn(event, "seen")),
		...forecast.map((event) => drawn(event, event.matched ? "matched" : "missed")),
	];
}

const radiusOf = ({ target }: Pick<Drawn, "target">) => (target ? 7 : 4.2);

/** Mark styles of events, larger for the target disease; the cross works without colour. */
function markStyles(target = false) {
	const r = radiusOf({ target });
	const circle = { symbol: "circle", r, fill: theme.background } as const;
	const [filled, seen, missed] = target
		? [theme.strong, theme.strong, theme.strong]
		: [theme.accent, theme.ink, theme.quiet];
	return {
		seen: [{ ...circle, stroke: seen, strokeWidth: target ? 2 : 1.2 }],
		matched: [{ ...circle, fill: filled, stroke: filled, strokeWidth: 1.2 }],
		missed: [
			{ ...circle, stroke: missed, strokeWidth: target ? 1.8 : 1 },
			{ symbol: "times", r: r * 0.6, stroke: missed, strokeWidth: target ? 1.8 : 1.1 },
		],
	} as const;
}

const laneHeight = 11;
const mostLanes = 6;

/** Rows of events, one below the other; overlapping events of a row are in lanes. */
function inLanes(groups: readonly (readonly [string, readonly Drawn[]])[], scale: number) {
	let bottom = 0;
	return groups.map(([name, group]) => {
		const events = group.toSorted((a, b) => a.time - b.time);
		const lanes = lanesOf(
			events.map((event) => ({ x: event.time * scale, r: radiusOf(event) })),
			mostLanes,
		);
		const step = group.some(({ target }) => target) ? laneHeight + 4 : laneHeight;
		const top = bottom;
		bottom += (Math.max(...lanes) + 1) * step + 12;
		return {
			name,
			top,
			bottom,
			y: (top + bottom) / 2,
			events: events.map((event, index) => ({
				...event,
				y: top + 6 + (lanes[index] + 0.5) * step,
			})),
		};
	});
}

const mostRows = 30;
const marginRight = 14;

/** Rows of events over time, the look-up window shaded. */
function timelinePanel(
	{ clock, lookUp, forecast, death }: DiseaseTrajectory,
	events: readonly Drawn[],
	diagnosed: number | undefined,
): Panel {
	const times = events.map(({ time }) => time);
	const [first, lastEvent] = [Math.min(...times), Math.max(...times)];
	const died = death !== null && death <= lastEvent + yearDays ? [death] : [];
	const last = Math.max(lastEvent, ...died);
	const room = (last - first || yearDays) * 0.02;
	const domain: [number, number] = [first - room, last + room];
	const lookUpEnd = Math.max(first, ...lookUp.map(({ time }) => time));
	const laterBegin = firstOf(forecast);
	const border =
		laterBegin === undefined
			? domain[1]
			: Math.min(lookUpEnd + room / 3, (lookUpEnd + laterBegin) / 2);
	const groups = [...groupBy(events, ({ row }) => row)].sort(([, a], [, b]) => b.length - a.length);
	const hidden = groups.splice(mostRows).length;
	return {
		title: "Events by time",
		subtitle: facts(
			lookUp.length > 0 && "shaded: the look-up window",
			hidden > 0 &&
				`the ${mostRows} rows with the most events; ${counted(hidden, "row")} not drawn`,
		),
		plot: (width) => {
			const marginOf = (rows: readonly { readonly name: string; readonly y: number }[]) =>
				namesOfRows(rows, width * 0.3 + 2);
			const marginLeft = marginOf(groups.map(([name]) => ({ name, y: 0 }))).width + 12;
			const inner = width - marginLeft - marginRight;
			const scale = inner / (domain[1] - domain[0]);
			const rows = inLanes(groups, scale);
			const { bottom } = rows.at(-1)!;
			const axis = timeAxis(clock, domain, Math.floor(inner / 75));
			const placed = rows.flatMap(({ events }) => events);
			const window = { x1: domain[0], x2: border, y1: 0, y2: bottom };
			return {
				...framed(bottom, [2, marginRight, 40, marginLeft]),
				x: { domain },
				y: { domain: [bottom, 0], axis: null },
				marks: [
					rect(lookUp.length > 0 ? [0] : [], { ...window, fill: theme.shade }),
					gridAxisX(axis.ticks, axis.label, axis.format),
					ruleY(rows.map(({ top }) => top).concat(bottom), { stroke: theme.grid }),
					ruleX(forecast.length > 0 && lookUp.length > 0 ? [border] : [], {
						stroke: theme.ink,
						strokeWidth: 1.2,
					}),
					ruleX(diagnosed === undefined ? [] : [diagnosed], {
						stroke: theme.strong,
						strokeWidth: 1.6,
						strokeDasharray: "3,2",
					}),
					ruleX(died, { stroke: theme.ink, strokeWidth: 2 }),
					marginOf(rows).mark,
					[false, true].map((target) =>
						fates.map((fate) =>
							markStyles(target)[fate].map((style) =>
								dot(
									placed.filter((event) => event.fate === fate && event.target === target),
									{ x: "time", y: "y", ...style },
								),
							),
						),
					),
				],
			};
		},
	};
}
