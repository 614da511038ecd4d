import { areaY, dot, line, ruleX, text } from "@observablehq/plot";
import { yearDays } from "../../../base/time.js";
import type { Sex } from "../../../data/records/rows.js";
import { spanText } from "../../../predict/user-input/moments.js";
import { type Clock, roundNumbers, timeAxis, timeName } from "../clock.js";
import {
	axisBelow,
	type Figure,
	framed,
	gridAxisY,
	inRows,
	label,
	legendPanel,
	type Panel,
} from "../figure.js";
import { percent, percentTick } from "../numbers.js";
import { textWidth } from "../text.js";
import { type FigureSize, theme, widthOf } from "../theme.js";

/** The risk of one person along the years before a first record. */
export interface OnsetStory {
	readonly patient: string;
	readonly sex: Sex | null;
	/** Whether the model warned. */
	readonly title: string;
	readonly clock: Clock;
	readonly times: readonly number[];
	readonly risk: readonly number[];
	/** The same of people of this age and sex. */
	readonly peers?: readonly number[] | undefined;
	/** The true risk of a simulated person. */
	readonly truth?: { readonly times: readonly number[]; readonly risk: readonly number[] };
	/** The day on which the risk was judged; the risk, that of people of this age and sex, and the true one. */
	readonly judged: {
		readonly time: number;
		readonly risk: number;
		readonly peers?: number | undefined;
		readonly truth?: number | undefined;
	};
	/** Times of the records before the diagnosis. */
	readonly records: readonly number[];
	readonly diagnosis: number;
	readonly death: number | null;
}

interface StoriesOptions {
	readonly name: string;
	readonly horizonDays: number;
	readonly size?: FigureSize;
}

const margins = [34, 16, 42, 44] as const;
/** The strip of records, as a share of the axis above 0. */
const strip = 0.07;
/** Later deaths are named, not drawn. */
const mostAfter = 1.5 * yearDays;

/** The risk of people before a disease was first recorded, on one scale. */
export function onsetStoriesFigure(
	stories: readonly OnsetStory[],
	{ name, horizonDays, size = "wide" }: StoriesOptions,
): Figure {
	const narrow = size === "narrow";
	const risks = stories.flatMap(({ risk, peers = [], truth }) => [
		...risk,
		...peers,
		...(truth?.risk ?? []),
	]);
	const most = 1.12 * Math.max(1e-3, ...risks);
	const panels = stories.map((story) => storyPanel(story, most, narrow));
	const span = spanText(horizonDays);
	const legend = [
		{ name: "the model", style: { fill: theme.accent } },
		...(stories.some(({ peers }) => peers)
			? [{ name: "people of the same age and sex", style: { fill: theme.neutral } }]
			: []),
		...(stories.some(({ truth }) => truth)
			? [{ name: "true risk, from the simulator", style: { fill: theme.second } }]
			: []),
		{ name: "first record of the disease", style: { fill: theme.strong } },
	];
	return {
		title: `${name}: the risk before the diagnosis`,
		subtitle: `probability of a first record within ${span}, from the records up to each day`,
		description: stories
			.map(
				({ patient, clock, judged, diagnosis }) =>
					`${patient}: a risk of ${percent(judged.risk)} within ${span} at ${timeName(clock, judged.time)}; first recorded at ${timeName(clock, diagnosis)}.`,
			)
			.join(" "),
		width: widthOf(size),
		rows: [
			...inRows(panels, narrow ? 1 : panels.length),
			[legendPanel(legend, { title: "Lines", columns: narrow ? 1 : 4 })],
		],
	};
}

function storyPanel(story: OnsetStory, most: number, narrow: boolean): Panel {
	const { patient, title, clock, times, risk, peers = [], judged, diagnosis, death } = story;
	const isNear = death !== null && death - diagnosis <= mostAfter;
	const first = times[0] ?? diagnosis - yearDays;
	const after = Math.max(0.06 * (diagnosis - first), isNear ? death - diagnosis : 0);
	const domain: [number, number] = [first, diagnosis + 1.15 * after];
	const axis = timeAxis(clock, domain, narrow ? 5 : 6);
	const least = -strip * most;
	const { truth = { times: [], risk: [] } } = story;
	const series = (xs: readonly number[], ys: readonly number[]) =>
		ys.map((risk, index) => ({ time: xs[index], risk }));
	const position = { x: "time", y: "risk" } as const;
	const events = [
		{ time: diagnosis, words: "first recorded", fill: theme.strong },
		...(isNear ? [{ time: death, words: "died", fill: theme.ink }] : []),
	].map((event) => ({ ...event, words: `${event.words}, ${timeName(clock, event.time)}` }));
	const died = death === null || isNear ? "" : `; died at ${timeName(clock, death)}`;
	return {
		title: `${title}: ${patient}`,
		subtitle: `${percent(judged.risk)} a year before the diagnosis${died}`,
		plot: (width) => ({
			...framed(250, margins),
			x: { domain },
			y: { domain: [least, most] },
			marks: [
				gridAxisY(roundNumbers(0, most, 4), percentTick),
				axisBelow(axis.ticks, axis.label, axis.format),
				ruleX(
					story.records.filter((time) => time >= first),
					{ x: (time: number) => time, y1: least, y2: 0.25 * least, stroke: theme.neutral },
				),
				areaY(series(times, risk), { ...position, fill: theme.accent, fillOpacity: 0.08 }),
				line(series(times, peers), {
					...position,
					stroke: theme.neutral,
					strokeWidth: 2.2,
					strokeDasharray: "6,4",
				}),
				line(series(truth.times, truth.risk), {
					...position,
					stroke: theme.second,
					strokeWidth: 2,
					strokeDasharray: "2,3",
				}),
				line(series(times, risk), { ...position, stroke: theme.accent, strokeWidth: 2.6 }),
				ruleX(events, { x: "time", stroke: "fill", strokeWidth: 2 }),
				// Names above the frame, kept inside the panel.
				events.map(({ time, words, fill }, row) => {
					const inner = width - margins[1] - margins[3];
					const pixel = (inner * (time - domain[0])) / (domain[1] - domain[0]);
					const half = textWidth(words, { size: theme.size.tick, bold: true }) / 2;
					const dx = Math.min(0, inner + margins[1] - 2 - pixel - half);
					return label(words, time, most, { dy: -9 - 15 * row, dx, fill, fontWeight: "bold" });
				}),
				dot([judged], {
					...position,
					r: 5,
					fill: theme.accent,
					stroke: theme.background,
					strokeWidth: 1.5,
				}),
				text([judged], {
					...position,
					dy: -13,
					fill: theme.accent,
					fontWeight: "bold",
					text: ({ risk }) => percent(risk),
					stroke: theme.background,
					strokeWidth: 4,
				}),
			],
		}),
	};
}
