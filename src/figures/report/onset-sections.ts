import type { Evaluation, OnsetDetails } from "../../evaluate/evaluation.js";
import { counted, percent, thousands } from "../numbers.js";
import { html } from "./html.js";
import { measured, measureKind } from "./measures.js";
import type { OnsetPerson, Report } from "./report.js";
import { shownHorizons } from "./rows.js";
import { figureMarkup, type Section } from "./section.js";
import { bestOf, scrolling } from "./table.js";

const onsetOf = ({ evaluations }: Report) => evaluations.find(({ task }) => task === "onset");

const yearsText = (years: number) => `${years} ${years === 1 ? "year" : "years"}`;

/** Before the diagnosis, how good risks are, and for whom: what a reader needs first. */
export function onsetSections(report: Report): Section[] {
	const evaluation = onsetOf(report);
	const details = evaluation?.onset;
	return [
		...pairSection(report),
		...(evaluation && details
			? [
					tableSection(evaluation, details),
					...trustSection(report),
					subgroupSection(evaluation, details),
				]
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

const metrics = ["auroc", "averagePrecision", "observedToExpected", "calibrationError"];

function tableSection(evaluation: Evaluation, details: OnsetDetails): Section {
	const { rows, patients, split, draws, notes } = evaluation;
	const body = (years: number) => {
		const names = metrics.map((metric) => `${metric} ${years}y`);
		const best = new Map(names.map((name) => [name, bestOf(rows, name)]));
		const codes = details.horizons.find((own) => own.years === years)?.codes ?? 0;
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
	return {
		id: "onset",
		title: "First records: the model beside others",
		body: html`<p>The probability of a first record within a horizon after one index day per person, death competing. Every code with at least 20 first records counts the same.</p>
${scrolling(
	"First records",
	html`<table class="measures">
<caption><span>${counted(patients, "person", "people")} of the ${split} split. Small print: 95 % intervals from ${counted(draws, "bootstrap draw")} over people. Bold: the best value, reference model excluded.</span></caption>
<thead><tr><th scope="col">risk from</th>${metrics.map((metric) => html`<th scope="col" class="number">${measureKind(`${metric} 1y`).title}</th>`)}</tr></thead>
${shownHorizons(details).map(body)}
</table>`,
)}
<details class="notes"><summary>How this was measured</summary>
<ul class="notes">${notes.map((note) => html`<li>${note}</li>`)}</ul></details>`,
	};
}

function trustSection({ figures }: Report): Section[] {
	const drawn = [figures.onsetCalibration, figures.byFifth, figures.decisions].flatMap(
		(figure) => figure ?? [],
	);
	return drawn.length === 0
		? []
		: [
				{
					id: "trust",
					title: "Can the risks be trusted?",
					body: html`${drawn.map(figureMarkup)}`,
				},
			];
}

function subgroupSection({ rows }: Evaluation, details: OnsetDetails): Section {
	const years = shownHorizons(details).at(-1) ?? 5;
	const [model, baseline] = rows.map(({ label }) => label);
	const groups = details.subgroups.filter((group) => group.years === years);
	const score = (group: (typeof groups)[number], label: string | undefined) =>
		group.rows.find((row) => row.label === label);
	const cell = (value: number | undefined, digits: number, scale = 1) =>
		html`<td class="number">${value === undefined ? "–" : (scale * value).toFixed(digits)}</td>`;
	return {
		id: "subgroups",
		title: "For whom?",
		body: html`<p>The same within ${yearsText(years)}, among women, men and age groups. Each row has the codes with at least 20 first records in that group, so rows cannot be compared with each other, only the columns of a row.</p>
${scrolling(
	"Subgroups",
	html`<table class="measures">
<caption><span>Small groups have few codes, and their numbers depend much on chance.</span></caption>
<thead><tr><th scope="col">people</th><th scope="col" class="number">number</th><th scope="col" class="number">codes</th><th scope="col" class="number">AUROC</th><th scope="col" class="number">AUROC by ${baseline ?? "baseline"}</th><th scope="col" class="number">average precision, %</th><th scope="col" class="number">observed/expected</th></tr></thead>
<tbody>
${groups.map((group) => {
	const own = score(group, model);
	return html`<tr><th scope="row">${group.name}</th><td class="number">${thousands(group.patients)}</td><td class="number">${group.codes}</td>${cell(own?.auroc, 3)}${cell(score(group, baseline)?.auroc, 3)}${cell(own?.averagePrecision, 2, 100)}${cell(own?.observedToExpected, 2)}</tr>\n`;
})}</tbody>
</table>`,
)}`,
	};
}

/** Every code, folded: long. */
export const codeScoresSection = ({ figures }: Report): Section[] =>
	figures.codeScores
		? [{ id: "codes", title: "Every code", body: figureMarkup(figures.codeScores), folded: true }]
		: [];
