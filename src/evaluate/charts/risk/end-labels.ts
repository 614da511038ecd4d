import type { Markish } from "@observablehq/plot";
import { link, text } from "@observablehq/plot";
import { avoidOverlap } from "../avoid-overlap.js";
import { timeName } from "../clock.js";
import { percent } from "../numbers.js";
import { fitted, textWidth, wrapped } from "../text.js";
import { theme } from "../theme.js";
import { colourOf, curveColour, type RiskLayout } from "./layout.js";
import type { RiskCurve, RiskPicture } from "./picture.js";

/** A label at the end of a line. */
export interface EndLabel {
	/** One line or two. */
	readonly name: readonly string[];
	readonly value: string;
	readonly colour: string;
	readonly risk: number;
	/** The end of its line. */
	readonly time: number;
	readonly other: boolean;
}

const nameType = { size: theme.size.text, bold: true };
const valueType = { size: theme.size.tick };
const lineHeight = 14;
const mostLabelWidth = 150;

export function endLabels({ curves, whatIf, clock }: RiskPicture): EndLabel[] {
	const label = (
		{ times, risk }: Pick<RiskCurve, "times" | "risk">,
		name: string,
		colour: string,
		other: boolean,
	): EndLabel[] =>
		times.length === 0
			? []
			: [
					{
						name: twoLines(name),
						value: `${percent(risk.at(-1) as number)} at ${timeName(clock, times.at(-1) as number)}`,
						colour,
						risk: risk.at(-1) as number,
						time: times.at(-1) as number,
						other,
					},
				];
	return [
		...curves.flatMap((curve, at) =>
			label(curve, curve.name || curve.code, curveColour(at), false),
		),
		...(whatIf?.curves ?? []).flatMap((curve) =>
			label(curve, whatIf?.name ?? "", colourOf(curves, curve.code), true),
		),
	];
}

function twoLines(name: string): string[] {
	const [first = "", ...rest] = wrapped(name, mostLabelWidth, nameType);
	return rest.length === 0 ? [first] : [first, fitted(rest.join(" "), mostLabelWidth, nameType)];
}

/** Width of the end labels, to the right of the frame. */
export const labelRoom = (labels: readonly EndLabel[]): number =>
	Math.ceil(
		Math.max(
			40,
			...labels.flatMap(({ name, value }) => [
				...name.map((line) => textWidth(line, nameType)),
				textWidth(value, valueType),
			]),
		),
	) + 28;

/** Names and last values to the right of the frame, without overlap, with leader lines. */
export function endMarks(labels: readonly EndLabel[], layout: RiskLayout): Markish[] {
	const { height, riskOf } = layout;
	const [top, bottom] = [layout.top - 12, layout.bottom + 12];
	const whole = labels.map(({ name }) => (name.length + 1) * lineHeight + 4);
	const crowded = whole.reduce((sum, size) => sum + size, 0) > bottom - top;
	const written = labels.map(({ name, value }) =>
		crowded ? [fitted(name.join(" "), mostLabelWidth, nameType)] : [...name, value],
	);
	const places = avoidOverlap(
		labels.map(({ risk }) => height(risk)),
		whole.map((size) => (crowded ? lineHeight : size)),
		[top, bottom],
	);
	const end = layout.domain[1];
	return labels.flatMap(({ colour, risk, time, other }, at) => {
		const place = places[at] as number;
		const lines = written[at] as string[];
		return [
			// A line that ended earlier has no leader, which would look like more of it.
			link(time < end - 0.02 * (end - layout.domain[0]) ? [] : [0], {
				x1: [time],
				x2: [layout.timeAt(layout.pixel(end) + 18)],
				y1: [risk],
				y2: [riskOf(place)],
				...(other
					? { stroke: colour, strokeDasharray: "0.1,4", strokeLinecap: "round" }
					: { stroke: theme.neutral }),
			}),
			...lines.map((line, index) => {
				const isValue = !crowded && index === lines.length - 1;
				return text([line], {
					x: [end],
					y: [riskOf(place)],
					dx: 22,
					dy: (index - (lines.length - 1) / 2) * lineHeight,
					textAnchor: "start",
					fill: isValue ? theme.quiet : colour,
					fontSize: isValue ? valueType.size : nameType.size,
					...(!isValue && !other && { fontWeight: "bold" }),
				});
			}),
		];
	});
}
