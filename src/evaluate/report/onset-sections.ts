import { thousands } from "../../base/thousands.js";
import { counted, percent } from "../charts/numbers.js";
import type { Evaluation, OnsetDetails } from "../evaluation.js";
import { bestOf, figureMarkup, html, measured, type Section, scrolling } from "./markup.js";
import { measureKind, shownHorizons } from "./measures.js";
import { subgroupWords } from "./onset-findings.js";
import type { DrawnFigure, OnsetPerson, Report } from "./report.js";
import { surprises } from "./surprises.js";

const onsetOf = ({ evaluations }: Report) => evaluations.find(({ task }) => task === "onset");

const yearsText = (years: number) => `${years} ${years === 1 ? "year" : "years"}`;

/** How good risks are, and for whom: what a reader needs first. */
export function onsetSections(report: Report): Section[] {
	const evaluation = onsetOf(report);
	const details = evaluation?.onset;
	return [
		...(evaluation && details
			? [
					tableSection(evaluation, details),
					...figureSection("calibration-of-risks", "Calibration", report.figures.onsetCalibration),
					subgroupSection(evaluation, details),
					...figureSection("decisions", "Decision curve", report.figures.decisions),
				].map((section) => ({ ...section, half: true }))
			: []),
	];
}

const pairSection = ({ onsetPair, simulated }: Report): Section[] =>
	onsetPair
		? [
				{
					id: "before",
					title: "Before the diagnosis: two people",
					body: html`<p>Disease: ${onsetPair.people[0]?.target ?? ""}. ${onsetPair.rule}${simulated ? "" : " They are real records: protect this page like the records."}</p>
<ul class="people">${onsetPair.people.map((person) => html`<li>${personSentence(person, onsetPair.horizon)}</li>\n`)}</ul>
${figureMarkup(onsetPair.figure)}`,
				},
			]
		: [];

const sexWords = { female: "a woman", male: "a man" } as const;

function personSentence(person: OnsetPerson, horizon: string): string {
	const { id, sex, age, risk, peers, truth } = person;
	const who = [
		id,
		...(sex ? [sexWords[sex]] : []),
		...(age === undefined ? [] : [`first recorded at age ${age.toFixed(1)}`]),
	].join(", ");
	const beside = [
		...(peers === undefined ? [] : [`people of the same age and sex had ${percent(peers)}`]),
		...(truth === undefined ? [] : [`the true risk was ${percent(truth)}`]),
	].join("; ");
	return `${who}: a year earlier, the model gave a ${horizon.replace(/s$/, "").replace(" ", "-")} risk of ${percent(risk)}${beside ? `; ${beside}` : ""}.`;
}

const metrics = ["auroc", "averagePrecision", "observedToExpected", "weightedCalibrationError"];

function tableSection(evaluation: Evaluation, details: OnsetDetails): Section {
	const { rows, patients, split, draws, notes } = evaluation;
	const body = (years: number) => {
		const names = metrics.map((metric) => `${metric} ${years}y`);
		const best = new Map(names.map((name) => [name, bestOf(rows, name)]));
		const codes = details.horizons.find((horizon) => horizon.years === years)?.codes ?? 0;
		return html`<tbody>
<tr class="band"><th scope="rowgroup" colspan="5">within ${yearsText(years)}, ${counted(codes, "code")}</th></tr>
${rows.map(
	(row) =>
		html`<tr class="${row.who}"><th scope="row">${row.label}</th>${names.map((name) => {
			const measure = row.metrics[name];
			return measure
				? html`<td class="${row === best.get(name) ? "number best" : "number"}">${measured(measure, measureKind(name))}</td>`
				: html`<td class="number none">–</td>`;
		})}</tr>\n`,
)}</tbody>`;
	};
	const horizons = shownHorizons(details);
	const last = horizons.at(-1) ?? 5;
	const others = horizons.slice(0, -1);
	const table = (name: string, years: readonly number[]) =>
		scrolling(
			name,
			html`<table class="measures">
<caption><span>Risk of a first record after one index day per person, death competing: ${counted(patients, "person", "people")} of the ${split} split. Small print: 95 % intervals from ${counted(draws, "bootstrap draw")} over people. Bold: the best value, reference model excluded.</span></caption>
<thead><tr><th scope="col">risk from</th>${metrics.map((metric) => html`<th scope="col" class="number">${measureKind(`${metric} 1y`).title}</th>`)}</tr></thead>
${years.map(body)}
</table>`,
		);
	const said = surprises(
		evaluation,
		metrics.map((metric) => `${metric} ${last}y`),
	);
	return {
		id: "onset",
		title: "Discrimination",
		body: html`${table("First records", [last])}
${said.length > 0 ? html`<ul class="surprises">${said.map((sentence) => html`<li>${sentence}</li>\n`)}</ul>` : ""}
${others.length > 0 ? html`<details class="notes"><summary>Within ${others.map(yearsText).join(", ")}</summary>\n${table("First records, other horizons", others)}</details>` : ""}
<details class="notes"><summary>How this was measured</summary>
<ul class="notes">${notes.map((note) => html`<li>${note}</li>`)}</ul></details>`,
	};
}

const figureSection = (id: string, title: string, figure: DrawnFigure | undefined): Section[] =>
	figure ? [{ id, title, body: figureMarkup(figure) }] : [];

function subgroupSection(evaluation: Evaluation, details: OnsetDetails): Section {
	const { rows } = evaluation;
	const years = shownHorizons(details).at(-1) ?? 5;
	const [model, baseline] = rows.map(({ label }) => label);
	const groups = details.subgroups.filter((group) => group.years === years);
	const score = (group: (typeof groups)[number], label: string | undefined) =>
		group.rows.find((row) => row.label === label);
	const cell = (value: number | undefined, digits: number) =>
		html`<td class="number">${value === undefined ? "–" : value.toFixed(digits)}</td>`;
	return {
		id: "subgroups",
		title: "Subgroups",
		body: html`<p>${subgroupWords(evaluation, years)}</p>
${scrolling(
	"Subgroups",
	html`<table class="measures">
<caption><span>Within ${yearsText(years)}. Each row has the codes with at least 20 first records in that group: compare columns, not rows.</span></caption>
<thead><tr><th scope="col">people</th><th scope="col" class="number">number</th><th scope="col" class="number">codes</th><th scope="col" class="number">AUROC</th><th scope="col" class="number">AUROC by ${baseline ?? "baseline"}</th><th scope="col" class="number">observed/expected</th></tr></thead>
<tbody>
${groups.map((group) => {
	const modelScore = score(group, model);
	return html`<tr><th scope="row">${group.name}</th><td class="number">${thousands(group.patients)}</td><td class="number">${group.codes}</td>${cell(modelScore?.auroc, 3)}${cell(score(group, baseline)?.auroc, 3)}${cell(modelScore?.observedToExpected, 2)}</tr>\n`;
})}</tbody>
</table>`,
)}`,
	};
}

/** Two people before a diagnosis, what happened by predicted risk, and every code: long. */
export const conditionSections = (report: Report): Section[] => [
	...pairSection(report),
	...figureSection("fifths", "What happened, by predicted risk", report.figures.byFifth),
	...figureSection("codes", "Every code", report.figures.codeScores),
];
