import type { Markish } from "@observablehq/plot";
import { spanText } from "../../../predict/user-input/moments.js";
import { timeName } from "../clock.js";
import type { Figure } from "../figure.js";
import { counted, percent } from "../numbers.js";
import { endLabels, endMarks, labelRoom } from "./end-labels.js";
import { growthPanel } from "./growth-panel.js";
import { partSizes, type RiskLayout, riskLayout, sharedDomain } from "./layout.js";
import { curveMarks } from "./lines.js";
import {
	isDrawn,
	type NumberedSurge,
	numberedSurges,
	partOf,
	type RiskPicture,
	recordedCodes,
	riskAt,
} from "./picture.js";
import { riskPanel } from "./risk-panel.js";
import { surgeMarks, surgeTexts } from "./surge-marks.js";
import { surgeNotesPanel } from "./surge-notes-panel.js";
import { eventNames, surgeHeading } from "./surge-texts.js";

const mostSurges = 12;

/** A panel: of first records, or of further ones. */
interface DrawnPart {
	readonly recorded: boolean;
	readonly part: RiskPicture;
	readonly layout: RiskLayout;
}

/**
 * Risk trajectories of one patient, their growth, and the events recorded at surges. First and further records have
 * panels of their own: the probability of another record is often near 1, and would flatten all others.
 */
export function riskFigure(picture: RiskPicture): Figure {
	const { patient, clock, now, horizonDays, simulated = false, events = [] } = picture;
	const death = picture.death ?? null;
	const curves = picture.curves.filter(({ times }) => times.length > 0);
	const shown = { ...picture, curves };
	const names = curves.map(({ name, code }) => name || code);
	const of = patient === undefined ? "" : ` of ${patient}`;
	const title = `Risk within ${spanText(horizonDays)}${of}${names.length === 1 ? `: ${names[0]}` : ""}`;
	if (curves.length === 0)
		return {
			title,
			description: "No disease was asked about at any time, so there is no risk to draw.",
			rows: [],
			notes: ["No risk to draw."],
		};
	const parts = [false, true]
		.map((recorded) => ({ recorded, part: partOf(shown, recorded) }))
		.filter(({ part }) => isDrawn(part));
	const domain = sharedDomain(shown);
	const margin = Math.max(...parts.map(({ part }) => labelRoom(endLabels(part))));
	const [first, ...rest] = parts.map(({ recorded, part }, at) => ({
		...{ recorded, part },
		layout: riskLayout(part, margin, domain, partSizes[at === 0 ? 0 : 1]),
	})) as [DrawnPart, ...DrawnPart[]];
	// Rises are those of the first quantity: of first records, unless all codes are recorded at all times.
	const all = first.part.curves.reduce((sum, { surges }) => sum + surges.length, 0);
	const surges = numberedSurges(first.part.curves, mostSurges);
	const { texts, complete } = surgeTexts(first.part, first.layout, surges);
	const panelOf = ({ recorded, part, layout }: DrawnPart, marks: readonly Markish[]) =>
		riskPanel(
			...([part, layout] as const),
			[
				...part.curves.flatMap((_, at) =>
					curveMarks(part, at, layout, part === first.part ? surges : []),
				),
				...marks,
				...endMarks(endLabels(part), layout),
			],
			{ recorded, named: part === first.part },
		);
	return {
		title,
		subtitle: [
			events.length > 0
				? `${counted(events.length, "record")} up to ${timeName(clock, now)}`
				: `up to ${timeName(clock, now)}`,
			...(death === null ? [] : [`died at ${timeName(clock, death)}`]),
			all > 0 ? counted(all, "significant rise") : "no significant rise",
		].join(" · "),
		description: described(shown, surges),
		rows: [
			[panelOf(first, surgeMarks(texts, first.layout, surges))],
			...rest.map((part) => [panelOf(part, [])]),
			[growthPanel(first.part, first.layout, surges)],
			surges.length > 0 && !complete ? [surgeNotesPanel(first.part, surges)] : [],
		],
		notes: [
			...(all > surges.length
				? [`The ${surges.length} greatest rises are numbered; ${all - surges.length} are not.`]
				: []),
		],
		simulated,
	};
}

function described(
	{ curves, whatIf, clock, now, horizonDays }: RiskPicture,
	surges: readonly NumberedSurge[],
) {
	const ends = curves.map((curve) => {
		const last = curve.times.at(-1) as number;
		return `${curve.name || curve.code}: ${percent(riskAt(curve, now))} at ${timeName(clock, now)}, ${percent(curve.risk.at(-1) as number)} at ${timeName(clock, last)}.`;
	});
	const others = (whatIf?.curves ?? []).map(
		({ name, code, risk }) =>
			`${name || code} ${whatIf?.name}: ${percent(risk.at(-1) ?? 0)} at the end.`,
	);
	const [greatest] = [...surges].sort((a, b) => b.growth - a.growth);
	return [
		`Probability of a first record within ${spanText(horizonDays)}, over the time of one patient, from the model.`,
		...recordedCodes(curves).map((name) => `${name} is recorded: from then on, of another record.`),
		...ends,
		...others,
		...(greatest
			? [
					`The greatest rise: ${surgeHeading(greatest, clock)}, with ${eventNames(greatest).slice(0, 5).join(", ")}.`,
				]
			: []),
	].join(" ");
}
