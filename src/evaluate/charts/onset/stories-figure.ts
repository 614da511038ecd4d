import { areaY, dot, line, type Markish, ruleX, text } from "@observablehq/plot";
import { yearDays } from "../../../base/time.js";
import { spanText } from "../../../predict/user-input/moments.js";
import { type Clock, roundNumbers, timeAxis, timeName } from "../clock.js";
import {
	axisBelow,
	type Figure,
	gridAxisY,
	inRows,
	label,
	legendPanel,
	type Panel,
} from "../figure.js";
import { percent, percentTick } from "../numbers.js";
import { textWidth } from "../text.js";
import { theme } from "../theme.js";

/** The risk of one person along the years before a first record. */
export interface OnsetStory {
	readonly patient: string;
	/** Whether the model warned. */
	readonly title: string;
	readonly clock: Clock;
	readonly times: readonly number[];
	readonly risk: readonly number[];
	/** The same of people of this age and sex. */
	readonly peers?: readonly number[] | undefined;
	/** The true risk of a simulated person. */
	readonly truth?: { readonly times: readonly number[]; readonly risk: readonly number[] };
	/** The day on which the risk was judged. */
	readonly judged: { readonly time: number; readonly risk: number };
	/** Times of the records before the diagnosis. */
	readonly records: readonly number[];
	readonly diagnosis: number;
	readonly death: number | null;
}

interface StoriesOptions {
	/** The disease. */
	readonly name: string;
	readonly horizonDays: number;
	readonly narrow?: boolean;
}

const plotHeight = 250;
const [marginTop, marginBottom, marginLeft, marginRight] = [34, 42, 44, 16];
/** The strip of records, as a share of the axis above 0. */
const strip = 0.07;
/** Later deaths are named, not drawn. */
const mostAfter = 1.5 * yearDays;

/** The risk of people before a disease was first recorded, on one scale. */
export function onsetStoriesFigure(
	stories: readonly OnsetStory[],
	{ name, horizonDays, narrow = false }: StoriesOptions,
): Figure {
	const most =
		1.12 *
		Math.max(
			1e-3,
			...stories.flatMap(({ risk, peers = [], truth }) => [
				...risk,
				...peers,
				...(truth?.risk ?? []),
			]),
		);
	const panels = stories.map((story) => storyPanel(story, most, narrow));
	const span = spanText(horizonDays);
	return {
		title: `${name}: the risk before the diagnosis`,
		subtitle: `probability of a first record within ${span}, from the records up to each day`,
		description: stories
			.map(
				({ patient, clock, judged, diagnosis }) =>
					`${patient}: a risk of ${percent(judged.risk)} within ${span} at ${timeName(clock, judged.time)}; first recorded at ${timeName(clock, diagnosis)}.`,
			)
			.join(" "),
		...(narrow && { width: theme.narrowWidth }),
		rows: [
			...inRows(panels, narrow ? 1 : panels.length),
			[
				legendPanel(
					[
						{ name: "the model", style: { fill: theme.accent } },
						...(stories.some(({ peers }) => peers)
							? [{ name: "people of the same age and sex", style: { fill: theme.neutral } }]
							: []),
						...(stories.some(({ truth }) => truth)
							? [{ name: "true risk, from the simulator", style: { fill: theme.second } }]
							: []),
						{ name: "first record of the disease", style: { fill: theme.strong } },
					],
					{ title: "Lines", columns: narrow ? 1 : 4 },
				),
			],
		],
	};
}

const diedText = ({ clock, death, diagnosis }: OnsetStory) =>
	death === null || death - diagnosis <= mostAfter ? "" : `; died at ${timeName(clock, death)}`;

function storyPanel(story: OnsetStory, most: number, narrow: boolean): Panel {
	const { patient, title, clock, times, risk, peers, truth, judged, diagnosis, death } = story;
	const drawnDeath = death !== null && death - diagnosis <= mostAfter ? death : undefined;
	const first = times[0] ?? diagnosis - yearDays;
	const after = Math.max(0.06 * (diagnosis - first), (drawnDeath ?? diagnosis) - diagnosis);
	const domain = [first, diagnosis + 1.15 * after] as const;
	const axis = timeAxis(clock, domain, narrow ? 5 : 6);
	const least = -strip * most;
	const series = (xs: readonly number[], ys: readonly number[]) =>
		ys.map((risk, index) => ({ time: xs[index], risk }));
	const position = { x: "time", y: "risk" } as const;
	const riskSeries = series(times, risk);
	return {
		title: `${title}: ${patient}`,
		subtitle: `${percent(judged.risk)} a year before the diagnosis${diedText(story)}`,
		height: plotHeight + marginTop + marginBottom,
		plot: (width) => ({
			marginTop,
			marginBottom,
			marginLeft,
			marginRight,
			x: { domain: [...domain] },
			y: { domain: [least, most] },
			marks: [
				...gridAxisY(roundNumbers(0, most, 4), percentTick),
				axisBelow(axis.ticks, axis.label, axis.format),
				ruleX(
					story.records.filter((time) => time >= domain[0]),
					{ x: (time: number) => time, y1: least, y2: 0.25 * least, stroke: theme.neutral },
				),
				areaY(riskSeries, { ...position, fill: theme.accent, fillOpacity: 0.08 }),
				line(series(times, peers ?? []), {
					...position,
					stroke: theme.neutral,
					strokeWidth: 2.2,
					strokeDasharray: "6,4",
				}),
				line(series(truth?.times ?? [], truth?.risk ?? []), {
					...position,
					stroke: theme.second,
					strokeWidth: 2,
					strokeDasharray: "2,3",
				}),
				line(riskSeries, { ...position, stroke: theme.accent, strokeWidth: 2.6 }),
				...eventRule(diagnosis, "first recorded", theme.strong, story, domain, width, most, 0),
				...(drawnDeath === undefined
					? []
					: eventRule(drawnDeath, "died", theme.ink, story, domain, width, most, 1)),
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

/** A vertical line at an event with its name above the frame, kept inside the panel. */
function eventRule(
	time: number,
	words: string,
	colour: string,
	{ clock }: OnsetStory,
	[from, to]: readonly [number, number],
	width: number,
	most: number,
	row: number,
): Markish[] {
	const name = `${words}, ${timeName(clock, time)}`;
	const inner = width - marginLeft - marginRight;
	const pixel = (inner * (time - from)) / (to - from);
	const half = textWidth(name, { size: theme.size.tick, bold: true }) / 2;
	const dx = Math.min(0, inner + marginRight - 2 - pixel - half);
	return [
		ruleX([time], { stroke: colour, strokeWidth: 2 }),
		label(name, time, most, { dy: -9 - 15 * row, dx, fill: colour, fontWeight: "bold" }),
	];
}
