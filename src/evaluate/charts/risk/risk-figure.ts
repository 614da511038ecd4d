import { type Markish, rect, ruleY, text } from "@observablehq/plot";
import { durationName } from "../../../base/time.js";
import { spanText } from "../../../predict/user-input/moments.js";
import { type Clock, spanName, timeName } from "../clock.js";
import { axisBelow, type Figure, framed, type Panel } from "../figure.js";
import { counted, facts, percent, sentences } from "../numbers.js";
import { avoidOverlap } from "../placement.js";
import { boldType, fitted, textWidth, wrapped } from "../text.js";
import { rowWidth, theme } from "../theme.js";
import {
	linesOf,
	type NamedSurge,
	type NumberedSurge,
	numberedSurges,
	partOf,
	type RiskLine,
	type RiskPicture,
	riskAt,
} from "./picture.js";
import {
	badgeRadius,
	badges,
	endLabels,
	frameAxis,
	marginLeft,
	observedMarks,
	type RiskFrame,
	riskFrame,
	riskPanel,
} from "./risk-panel.js";

const mostSurges = 12;

/**
 * Risk trajectories of one patient, their growth, and the events recorded at surges. First and further records have
 * panels of their own: the probability of another record is often near 1, and would flatten all others.
 */
export function riskFigure(picture: RiskPicture): Figure {
	const { patient, clock, now, horizonDays, simulated = false, events, death } = picture;
	const lines = linesOf(picture);
	const codes = lines.filter(({ edit }) => edit === undefined);
	const horizon = spanText(horizonDays);
	const title = `Risk within ${horizon} of ${patient}${codes.length === 1 ? `: ${codes[0].name}` : ""}`;
	if (codes.length === 0)
		return {
			title,
			description: "No disease was asked about at any time, so there is no risk to draw.",
			rows: [],
			notes: ["No risk to draw."],
		};
	const parts = [false, true].flatMap((recorded) => {
		const part = partOf(lines, recorded);
		return part.length > 0 ? [{ recorded, lines: part }] : [];
	});
	const marginRight = Math.max(...parts.map(({ lines }) => endLabels(lines, clock).room));
	const frames = parts.map((part, index) =>
		riskFrame(picture, lines, { ...part, isFirst: index === 0, marginRight }),
	);
	// Rises are those of the first quantity: of first records, unless all codes are recorded at all times.
	const [first] = frames;
	const all = first.lines.reduce((sum, { surges }) => sum + surges.length, 0);
	const surges = numberedSurges(first.lines, mostSurges);
	const greatest = surges.toSorted((a, b) => b.growth - a.growth)[0];
	const nowName = timeName(clock, now);
	return {
		title,
		subtitle: facts(
			`${events.length > 0 ? `${counted(events.length, "record")} ` : ""}up to ${nowName}`,
			death !== null && `died at ${timeName(clock, death)}`,
			all > 0 ? counted(all, "significant rise") : "no significant rise",
		),
		description: sentences(
			`Probability of a first record within ${horizon}, over the time of one patient, from the model.`,
			...codes
				.filter(({ points }) => points.some(({ recorded }) => recorded))
				.map(({ name }) => `${name} is recorded: from then on, of another record.`),
			...lines.map((line) => {
				const last = line.points.at(-1)!;
				return line.edit === undefined
					? `${line.name}: ${percent(riskAt(line, now))} at ${nowName}, ${percent(last.risk)} at ${timeName(clock, last.time)}.`
					: `${line.name} ${line.edit}: ${percent(last.risk)} at the end.`;
			}),
			greatest &&
				`The greatest rise: ${surgeHeading(greatest, clock)}, with ${surgeEvents(greatest).slice(0, 5).join(", ")}.`,
		),
		rows: [
			...frames.map((frame) => [riskPanel(picture, frame, frame === first ? surges : [])]),
			[growthPanel(clock, first, surges)],
			surges.length > 0 ? [notesPanel(clock, codes.length > 1, surges)] : [],
		],
		notes:
			all > surges.length
				? [`The ${surges.length} greatest rises are numbered; ${all - surges.length} are not.`]
				: [],
		simulated,
	};
}

/** A growth such as 4.2 points; never 0 for a positive growth. */
const pointsName = (growth: number): string => {
	const points = 100 * growth;
	const digits = Math.abs(points) >= 9.95 ? 0 : Math.abs(points) >= 0.095 ? 1 : 2;
	return `${points > 0 ? "+" : points < 0 ? "−" : ""}${Math.abs(points).toFixed(digits)} points`;
};

const surgeHeading = ({ from, to, growth }: NamedSurge, clock: Clock): string =>
	`${spanName(clock, from, to)} · ${pointsName(growth)}`;

/** The names of the events recorded in a surge. */
const surgeEvents = ({ phenotypes }: NamedSurge): readonly string[] =>
	phenotypes.length > 0 ? [...new Set(phenotypes)] : ["no record: time alone"];

const noteColumns = 2;
const columnGap = 24;
const textStart = 24;
const noteLineHeight = 15;
const maxNoteLines = 3;

/** Notes with the events recorded in each numbered surge. */
function notesPanel(clock: Clock, hasNames: boolean, surges: readonly NumberedSurge[]): Panel {
	const columnWidth = (rowWidth - columnGap * (noteColumns - 1)) / noteColumns;
	const room = columnWidth - textStart;
	const perColumn = Math.ceil(surges.length / noteColumns);
	let y = 0;
	const notes = surges.map((surge, index) => {
		if (index % perColumn === 0) y = 0;
		const left = Math.floor(index / perColumn) * (columnWidth + columnGap);
		const { number, line } = surge;
		const heading = facts(surgeHeading(surge, clock), hasNames && line.name);
		const lines = wrapped(surgeEvents(surge).join(", "), room);
		const rest = lines.splice(maxNoteLines - 1).join(" ");
		const words = [fitted(heading, room, boldType), ...lines, fitted(rest, room)].filter(Boolean);
		const top = y;
		y += words.length * noteLineHeight + 10;
		return {
			number,
			colour: line.colour,
			x: left + badgeRadius + 1,
			y: top + badgeRadius + 1,
			words: words.map((text, row) => ({
				text,
				x: left + textStart,
				y: top + (row + 0.5) * noteLineHeight + (row === 0 ? 1 : 0),
			})),
		};
	});
	const headings = notes.map(({ words }) => words[0]);
	const others = notes.flatMap(({ words }) => words.slice(1));
	const height = Math.max(...others.map(({ y }) => y)) + noteLineHeight / 2 + 4;
	const style = { x: "x", y: "y", text: "text", textAnchor: "start" } as const;
	return {
		title: "Recorded where the risk rose",
		subtitle: "numbers as above",
		plot: (width) => ({
			height,
			margin: 0,
			x: { domain: [0, width], axis: null },
			y: { domain: [height, 0], axis: null },
			marks: [badges(notes), text(headings, { ...style, fontWeight: "bold" }), text(others, style)],
		}),
	};
}

/** Height above the bars, for numbers and the name of the line. */
const headHeight = 24;
const mostNameWidth = 240;

/** The change of each risk between two times; the bars of numbered surges are highlighted. */
function growthPanel(clock: Clock, frame: RiskFrame, surges: readonly NumberedSurge[]): Panel {
	const lines = frame.lines.filter(({ edit }) => edit === undefined);
	const barsHeight = lines.length > 4 ? 34 : 56;
	const height = lines.length * (barsHeight + headHeight);
	const axis = frameAxis(clock, frame);
	const steps = (lines[0]?.points ?? [])
		.slice(1)
		.map(({ time }, index) => time - lines[0].points[index].time)
		.sort((a, b) => a - b);
	const step = steps[Math.floor(steps.length / 2)];
	return {
		title: "Growth",
		subtitle: `change of the risk from one time to the next${step ? `, ${durationName(step)} apart` : ""}, in percentage points`,
		plot: () => ({
			...framed(height, [0, frame.marginRight, 40, marginLeft]),
			x: { domain: frame.domain },
			y: { domain: [height, 0], axis: null },
			marks: [
				observedMarks(frame, 0, height),
				axisBelow(axis.ticks, axis.label, axis.format),
				lines.map((line, row) => {
					const ofLine = surges.filter((surge) => surge.line === line);
					const top = row * (barsHeight + headHeight) + headHeight;
					return growthMarks(line, frame, ofLine, top, barsHeight);
				}),
			],
		}),
	};
}

/** Bars of one line, below its name and the numbers of its surges. */
function growthMarks(
	{ points, name: fullName, colour }: RiskLine,
	{ x, right, codes }: RiskFrame,
	surges: readonly NumberedSurge[],
	top: number,
	height: number,
): Markish[] {
	const name = codes.length > 1 ? fitted(fullName, mostNameWidth, boldType) : "";
	const values = points.map(({ growth }) => 100 * (Number.isFinite(growth) ? growth : 0));
	const [least, most] = [Math.min(0, ...values), Math.max(0, ...values)];
	const span = most - least || 1;
	const y = (value: number) => top + 3 + ((most - value) / span) * (height - 6);
	const bars = values.slice(1).map((value, before) => {
		const [x1, x2] = [points[before].time, points[before + 1].time];
		const risen = surges.some(({ from, to }) => x2 > from && x2 <= to);
		return { x1, x2, y2: y(value), fill: risen ? colour : theme.neutral };
	});
	const headMiddle = top - headHeight / 2;
	const centres = avoidOverlap(
		surges.map(({ from, to }) => x.of((from + to) / 2)),
		surges.map(() => 2 * badgeRadius + 2),
		[marginLeft + (name ? textWidth(name, boldType) + 12 : 0), right],
	);
	const numbers = surges.map(({ number }, index) => ({
		number,
		colour,
		x: x.at(centres[index]),
		y: headMiddle,
	}));
	const digits = span < 0.2 ? 3 : span < 2 ? 2 : 1;
	const ends = [
		{ value: 0, words: "0" },
		...(most > 0.25 * span ? [{ value: most, words: `+${most.toFixed(digits)}` }] : []),
		...(least < -0.25 * span ? [{ value: least, words: `−${(-least).toFixed(digits)}` }] : []),
	];
	const left = { frameAnchor: "left" } as const;
	return [
		rect(bars, { x1: "x1", x2: "x2", y1: y(0), y2: "y2", fill: "fill" }),
		ruleY([y(0)], { stroke: theme.quiet, strokeWidth: 0.8 }),
		text(ends, {
			...left,
			y: ({ value }) => y(value),
			textAnchor: "end",
			dx: -8,
			text: "words",
			fill: theme.quiet,
		}),
		text([name], {
			...left,
			y: [headMiddle],
			textAnchor: "start",
			dx: 5,
			fill: colour,
			fontWeight: "bold",
		}),
		badges(numbers),
	];
}
