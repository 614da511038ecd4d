import { simulatedText } from "../../base/simulated.js";
import { spanText } from "../../infer/user-input/moments.js";
import { timeName } from "../clock.js";
import type { Figure } from "../figure.js";
import { counted, percent } from "../numbers.js";
import { endLabels, endMarks, labelRoom } from "./end-labels.js";
import { growthPanel } from "./growth-panel.js";
import { riskLayout } from "./layout.js";
import { curveMarks } from "./lines.js";
import {
	type NumberedSurge,
	numberedSurges,
	type RiskPicture,
	recordedCodes,
	riskAt,
} from "./picture.js";
import { riskPanel } from "./risk-panel.js";
import { surgeMarks, surgeTexts } from "./surge-marks.js";
import { surgeNotesPanel } from "./surge-notes-panel.js";
import { eventNames, surgeHeading } from "./surge-texts.js";

const mostSurges = 12;
const simulatedSentence = `${simulatedText.replace(/^s/, "S")}.`;

/** Risk trajectories of one patient, their growth, and the events recorded at surges. */
export function riskFigure(picture: RiskPicture): Figure {
	const { patient, clock, now, horizonDays, simulated = false, events = [] } = picture;
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
	const labels = endLabels(shown);
	const layout = riskLayout(shown, labelRoom(labels));
	const all = curves.reduce((sum, { surges }) => sum + surges.length, 0);
	const surges = numberedSurges(curves, mostSurges);
	const { texts, complete } = surgeTexts(shown, layout, surges);
	const foreground = [
		...curves.flatMap((_, at) => curveMarks(shown, at, layout, surges)),
		...surgeMarks(texts, layout, surges),
		...endMarks(labels, layout),
	];
	return {
		title,
		subtitle: [
			events.length > 0
				? `${counted(events.length, "record")} up to ${timeName(clock, now)}`
				: `up to ${timeName(clock, now)}`,
			all > 0 ? counted(all, "significant rise") : "no significant rise",
		].join(" · "),
		description: described(shown, surges),
		rows: [
			[riskPanel(shown, layout, foreground)],
			[growthPanel(shown, layout, surges)],
			surges.length > 0 && !complete ? [surgeNotesPanel(shown, surges)] : [],
		],
		notes: [
			...(all > surges.length
				? [`The ${surges.length} greatest rises are numbered; ${all - surges.length} are not.`]
				: []),
			...(simulated ? [simulatedSentence] : []),
		],
	};
}

function described(
	{ curves, whatIf, clock, now, horizonDays, simulated = false }: RiskPicture,
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
		...(simulated ? [simulatedSentence] : []),
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
