import { thousands } from "../../base/thousands.js";
import { counted, percent } from "../charts/numbers.js";
import type { Evaluation, OnsetDetails } from "../evaluation.js";
import { surprises } from "./findings.js";
import {
	figureMarkup,
	html,
	type Markup,
	measureRows,
	notesMarkup,
	numberCell,
	type Section,
	table,
	tableRow,
} from "./markup.js";
import { measureKind, shownHorizons } from "./measures.js";
import { subgroupWords } from "./onset-findings.js";
import type { DrawnFigure, Evaluated, OnsetPerson, Report } from "./report.js";

const yearsText = (years: number) => counted(years, "year");

const figureSection = (id: string, title: string, figure: DrawnFigure | undefined): Section[] =>
	figure ? [{ id, title, body: figureMarkup(figure) }] : [];

/** How good risks are, and for whom: what a reader needs first. */
export function onsetSections({ evaluations, figures }: Evaluated): Section[] {
	const evaluation = evaluations.find(({ task }) => task === "onset");
	const details = evaluation?.onset;
	if (!evaluation || !details) return [];
	return [
		tableSection(evaluation, details),
		...figureSection("calibration-of-risks", "Calibration", figures.onsetCalibration),
		subgroupSection(evaluation, details),
		...figureSection("decisions", "Decision curve", figures.decisions),
	].map((section) => ({ ...section, half: true }));
}

/** Two people before a diagnosis, what happened by predicted risk, and every code: long. */
export function conditionSections({ onsetPair: pair, simulated, figures }: Report): Section[] {
	const protection = simulated ? "" : " They are real records: protect this page like the records.";
	return [
		...(pair
			? [
					{
						id: "before",
						title: "Before the diagnosis: two people",
						body: html`<p>Disease: ${pair.people[0]?.target ?? ""}. ${pair.rule}${protection}</p>
<ul class="people">${pair.people.map((person) => html`<li>${personSentence(person, pair.horizon)}</li>\n`)}</ul>
${figureMarkup(pair.figure)}`,
					},
				]
			: []),
		...figureSection("fifths", "What happened, by predicted risk", figures.byFifth),
		...figureSection("codes", "Every code", figures.codeScores),
	];
}

const sexWords = { female: "a woman", male: "a man" } as const;

function personSentence(person: OnsetPerson, horizon: string): string {
	const { id, sex, age, risk, peers, truth } = person;
	const recorded = age === undefined ? "" : `, first recorded at age ${age.toFixed(1)}`;
	const ofPeers =
		peers === undefined ? "" : `; people of the same age and sex had ${percent(peers)}`;
	const ofTruth = truth === undefined ? "" : `; the true risk was ${percent(truth)}`;
	return `${id}${sex ? `, ${sexWords[sex]}` : ""}${recorded}: a year earlier, the model gave a ${horizon.replace(/s$/, "").replace(" ", "-")} risk of ${percent(risk)}${ofPeers}${ofTruth}.`;
}

const metrics = ["auroc", "averagePrecision", "observedToExpected", "weightedCalibrationError"];
const metricsWithin = (years: number) => metrics.map((metric) => `${metric} ${years}y`);

function tableSection(evaluation: Evaluation, details: OnsetDetails): Section {
	const { rows, patients, split, draws, notes } = evaluation;
	const horizons = shownHorizons(details);
	const last = horizons.at(-1) ?? 5;
	const others = horizons.slice(0, -1);
	const rowsWithin = (years: number): Markup => {
		const codes = details.horizons.find((horizon) => horizon.years === years)?.codes ?? 0;
		return html`<tr class="band"><th scope="rowgroup" colspan="5">within ${yearsText(years)}, ${counted(codes, "code")}</th></tr>
${measureRows(rows, metricsWithin(years))}`;
	};
	const tableOf = (name: string, years: readonly number[]) =>
		table({
			name,
			caption: `Risk of a first record after one index day per person, death competing: ${counted(patients, "person", "people")} of the ${split} split. Small print: 95 % intervals from ${counted(draws, "bootstrap draw")} over people. Bold: the best value, reference model excluded.`,
			head: ["risk from", ...metrics.map((metric) => measureKind(`${metric} 1y`).title)],
			rows: years.map(rowsWithin),
		});
	const explained = surprises(evaluation, metricsWithin(last));
	return {
		id: "onset",
		title: "Discrimination",
		body: html`${tableOf("First records", [last])}
${explained.length > 0 ? html`<ul class="surprises">${explained.map((sentence) => html`<li>${sentence}</li>\n`)}</ul>` : ""}
${others.length > 0 ? html`<details class="notes"><summary>Within ${others.map(yearsText).join(", ")}</summary>\n${tableOf("First records, other horizons", others)}</details>` : ""}
<details class="notes"><summary>How this was measured</summary>
${notesMarkup(notes)}</details>`,
	};
}

function subgroupSection(evaluation: Evaluation, details: OnsetDetails): Section {
	const years = shownHorizons(details).at(-1) ?? 5;
	const [model, baseline] = evaluation.rows.map(({ label }) => label);
	const groups = details.subgroups.filter((group) => group.years === years);
	const rows = groups.map(({ name, patients, codes, rows: scores }) => {
		const [ours, theirs] = [model, baseline].map((label) =>
			scores.find((row) => row.label === label),
		);
		return tableRow(name, [
			numberCell(thousands(patients)),
			numberCell(codes),
			numberCell(ours?.auroc.toFixed(3) ?? "–"),
			numberCell(theirs?.auroc.toFixed(3) ?? "–"),
			numberCell(ours?.observedToExpected?.toFixed(2) ?? "–"),
		]);
	});
	const auroc = ["AUROC", `AUROC by ${baseline ?? "baseline"}`];
	return {
		id: "subgroups",
		title: "Subgroups",
		body: html`<p>${subgroupWords(evaluation, years)}</p>
${table({
	name: "Subgroups",
	caption: `Within ${yearsText(years)}. Each row has the codes with at least 20 first records in that group: compare columns, not rows.`,
	head: ["people", "number", "codes", ...auroc, "observed/expected"],
	rows,
})}`,
	};
}
