import { thousands } from "../../base/thousands.js";
import { counted, percent } from "../charts/numbers.js";
import type { Evaluation, OnsetDetails } from "../evaluation.js";
import { surprises } from "./findings.js";
import {
	figureMarkup,
	html,
	type Markup,
	measureRows,
	measureTable,
	metricsOf,
	numberCell,
	type Section,
	table,
	tableBody,
	tableRow,
} from "./markup.js";
import {
	differenceOf,
	mainRow,
	measureKind,
	settingRows,
	shownHorizons,
	sizeOf,
	taskOf,
	verdict,
} from "./measures.js";
import { subgroupWords } from "./onset-findings.js";
import type { DrawnFigure, OnsetPerson, Report } from "./report.js";

/** What sections on evaluations are made of. */
interface Evaluated extends Pick<Report, "evaluations"> {
	readonly figures: Partial<Report["figures"]>;
}

const onsetOf = ({ evaluations }: Evaluated) => evaluations.find(({ task }) => task === "onset");

const yearsText = (years: number) => `${years} ${years === 1 ? "year" : "years"}`;

/** How good risks are, and for whom: what a reader needs first. */
export function onsetSections(report: Evaluated): Section[] {
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
		const codes = details.horizons.find((horizon) => horizon.years === years)?.codes ?? 0;
		return html`<tbody>
<tr class="band"><th scope="rowgroup" colspan="5">within ${yearsText(years)}, ${counted(codes, "code")}</th></tr>
${measureRows(
	rows,
	metrics.map((metric) => `${metric} ${years}y`),
)}</tbody>`;
	};
	const horizons = shownHorizons(details);
	const last = horizons.at(-1) ?? 5;
	const others = horizons.slice(0, -1);
	const tableOf = (name: string, years: readonly number[]) =>
		table({
			name,
			caption: `Risk of a first record after one index day per person, death competing: ${counted(patients, "person", "people")} of the ${split} split. Small print: 95 % intervals from ${counted(draws, "bootstrap draw")} over people. Bold: the best value, reference model excluded.`,
			head: ["risk from", ...metrics.map((metric) => measureKind(`${metric} 1y`).title)],
			body: years.map(body),
		});
	const explained = surprises(
		evaluation,
		metrics.map((metric) => `${metric} ${last}y`),
	);
	return {
		id: "onset",
		title: "Discrimination",
		body: html`${tableOf("First records", [last])}
${explained.length > 0 ? html`<ul class="surprises">${explained.map((sentence) => html`<li>${sentence}</li>\n`)}</ul>` : ""}
${others.length > 0 ? html`<details class="notes"><summary>Within ${others.map(yearsText).join(", ")}</summary>\n${tableOf("First records, other horizons", others)}</details>` : ""}
<details class="notes"><summary>How this was measured</summary>
<ul class="notes">${notes.map((note) => html`<li>${note}</li>`)}</ul></details>`,
	};
}

const figureSection = (id: string, title: string, figure: DrawnFigure | undefined): Section[] =>
	figure ? [{ id, title, body: figureMarkup(figure) }] : [];

function subgroupSection(evaluation: Evaluation, details: OnsetDetails): Section {
	const years = shownHorizons(details).at(-1) ?? 5;
	const [model, baseline] = evaluation.rows.map(({ label }) => label);
	const groups = details.subgroups.filter((group) => group.years === years);
	const rows = groups.map(({ name, patients, codes, rows: scores }) => {
		const [ours, theirs] = [model, baseline].map((label) =>
			scores.find((row) => row.label === label),
		);
		return tableRow(
			name,
			[
				thousands(patients),
				codes,
				ours?.auroc.toFixed(3) ?? "–",
				theirs?.auroc.toFixed(3) ?? "–",
				ours?.observedToExpected?.toFixed(2) ?? "–",
			].map((value) => numberCell(value)),
		);
	});
	return {
		id: "subgroups",
		title: "Subgroups",
		body: html`<p>${subgroupWords(evaluation, years)}</p>
${table({
	name: "Subgroups",
	caption: `Within ${yearsText(years)}. Each row has the codes with at least 20 first records in that group: compare columns, not rows.`,
	head: [
		"people",
		"number",
		"codes",
		"AUROC",
		`AUROC by ${baseline ?? "baseline"}`,
		"observed/expected",
	],
	body: tableBody(rows),
})}`,
	};
}

/** Two people before a diagnosis, what happened by predicted risk, and every code: long. */
export const conditionSections = (report: Report): Section[] => [
	...pairSection(report),
	...figureSection("fifths", "What happened, by predicted risk", report.figures.byFifth),
	...figureSection("codes", "Every code", report.figures.codeScores),
];

const forecastOrder = ["nats", "accuracy", "recall@1", "recall@5", "recall@10", "recall@15"];

/** Calibration has its own section, and recall by window a figure. */
const isElsewhere = (metric: string) => /calibrationError$|^recall@\d+ ./i.test(metric);

export function forecastSection({ evaluations, figures }: Evaluated): Section {
	const of = (task: string) => evaluations.find((evaluation) => evaluation.task === task);
	const [next, forecast] = [of("next"), of("forecast")];
	return {
		id: "forecasts",
		title: "How well it forecasts",
		body: html`${
			next || forecast
				? ""
				: html`<p>Neither the next record nor records far ahead were evaluated yet; the missing evaluations are listed above.</p>`
		}${next ? evaluated(next, "nats") : ""}${forecast ? evaluated(forecast, "recall@10") : ""}${figures.recall ? figureMarkup(figures.recall) : ""}`,
	};
}

function evaluated(evaluation: Evaluation, metric: string): Markup {
	const { title, question } = taskOf(evaluation.task);
	const metrics = metricsOf(evaluation.rows, forecastOrder).filter(
		(metric) => !isElsewhere(metric),
	);
	return html`<h3>${title}</h3>
<p>${question}</p>
${measureTable(evaluation, { name: title, metrics, rows: evaluation.rows })}
${noveltyTables(evaluation, title)}
${pairedMarkup(evaluation, metric)}
${notes(evaluation)}`;
}

/** Recall of codes that patients already had, and of new ones. */
function noveltyTables(evaluation: Evaluation, title: string): Markup[] {
	const { newCodes, rows } = evaluation;
	if (!newCodes) return [];
	const parts = [
		{ novelty: "known", share: 1 - newCodes.value, what: "codes that the patient already had" },
		{ novelty: "new", share: newCodes.value, what: "codes that are new for the patient" },
	];
	return parts.flatMap(({ novelty, share, what }) => {
		const metrics = [...new Set(rows.flatMap(({ metrics }) => Object.keys(metrics)))].filter(
			(metric) =>
				metric.startsWith("recall@") &&
				/^\S+ (known|new)$/.test(metric) &&
				metric.endsWith(novelty),
		);
		if (metrics.length === 0) return [];
		return [
			html`<p>Of ${what}, ${percent(share)} of the records:</p>
${measureTable(evaluation, { name: `${title}: ${novelty} codes`, metrics, rows })}`,
		];
	});
}

/** Paired differences between the model and each baseline: more precise than the intervals in the table. */
function pairedMarkup(evaluation: Evaluation, metric: string): Markup {
	const kind = measureKind(metric);
	const model = mainRow(evaluation);
	const comparisons = evaluation.rows.flatMap((row) => {
		const difference = model && row !== model && differenceOf(evaluation, model, row, metric);
		if (!difference) return [];
		const size = sizeOf(difference, kind);
		return {
			better: html`<li>${size} <b>better</b> than ${row.label}</li>`,
			worse: html`<li>${size} <b>worse</b> than ${row.label}</li>`,
			level: html`<li><b>level</b> with ${row.label}: ${size} apart</li>`,
		}[verdict(difference, kind)];
	});
	if (evaluation.tooFew) return html`<p><b>${evaluation.tooFew}.</b></p>`;
	if (!model || comparisons.length === 0) return html``;
	return html`<p>Patient by patient, by ${kind.title.replace(/, .*/, "")}, ${model.label} is</p>
<ul class="paired">${comparisons}</ul>`;
}

const notes = ({ notes }: Evaluation): Markup =>
	notes.length === 0
		? html``
		: html`<ul class="notes">${notes.map((note) => html`<li>${note}</li>`)}</ul>`;

export function calibrationSection({ figures, evaluations }: Report): Section[] {
	if (!figures.calibration) return [];
	const next = evaluations.find(({ task }) => task === "next");
	const { weightedCalibrationError, topCalibrationError } = (next && mainRow(next)?.metrics) ?? {};
	const sentences = [
		...(topCalibrationError
			? [
					`the probability of the first choice differs from how often it was recorded by ${sizeOf(topCalibrationError, measureKind("topCalibrationError"))}`,
				]
			: []),
		...(weightedCalibrationError
			? [
					`the probabilities of all codes, weighted by the probability itself, by ${sizeOf(weightedCalibrationError, measureKind("weightedCalibrationError"))}`,
				]
			: []),
	];
	return [
		{
			id: "calibration",
			title: "Calibration of other tasks",
			body: html`${sentences.length > 0 ? html`<p>For the next record, on average, ${sentences.join("; ")}.</p>` : ""}
${figureMarkup(figures.calibration)}`,
		},
	];
}

const labelledOrder = ["auprc", "auroc", "brier", "calibrationError"];

const ways: Readonly<Record<string, string>> = {
	"zero-shot prototype": "zero-shot: similarity to a typical case",
	"zero-shot risk": "zero-shot: the predicted risk",
	"5-shot": "5-shot: five labelled patients",
	"fine-tuned": "fine-tuned: all labels of the training patients",
};

interface Labelled extends Pick<Report, "evaluations"> {
	readonly labels: Report["summary"]["labels"];
}

/** One section per labelled task. */
export const labelledSections = (report: Labelled): Section[] =>
	report.evaluations
		.filter((evaluation) => settingRows(evaluation).length > 0)
		.map((evaluation) => labelledSection(report, evaluation));

function labelledSection({ labels }: Labelled, evaluation: Evaluation): Section {
	const { title, question } = taskOf(evaluation.task);
	const label = labels.find(({ task }) => task === evaluation.task);
	const counts = label?.splits[evaluation.split];
	const { rows } = evaluation;
	return {
		id: `task-${evaluation.task}`,
		title,
		body: html`<p>${question}${label ? html` <span class="quiet">(${label.rule})</span>` : ""}</p>
${
	counts && counts.labels > 0
		? html`<p>Of ${counted(counts.labels, "patient")}, ${thousands(counts.positive)} (${percent(counts.positive / counts.labels)}) are positive; this share is the AUPRC of guessing.${
				counts.positive < 20 ? " With so few cases the intervals are wide." : ""
			}</p>`
		: ""
}
${measureTable(evaluation, {
	name: title,
	metrics: metricsOf(rows, labelledOrder),
	rows,
	rowName: ({ who, setting, label }) => (who === "model" && setting && ways[setting]) || label,
})}
${notes(evaluation)}`,
	};
}
