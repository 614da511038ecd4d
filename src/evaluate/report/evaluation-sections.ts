import { thousands } from "../../base/thousands.js";
import type { LabelSummary } from "../../data/cohort/index.js";
import { calibrationCurves, calibrationFigure } from "../charts/calibration-figure.js";
import { type DecayMap, decayFigure } from "../charts/model-figures.js";
import { counted, percent } from "../charts/numbers.js";
import { recallByWindowFigure } from "../charts/recall-figure.js";
import type { Evaluation } from "../evaluation.js";
import {
	html,
	type Markup,
	measureNumbers,
	measureTable,
	metricsOf,
	notesMarkup,
	type Section,
	type SectionFigure,
	withFields,
} from "./markup.js";
import { comparison, mainRow, measureKind, settingRows, sizeOf, taskOf } from "./measures.js";

const forecastOrder = ["nats", "accuracy", "recall@1", "recall@5", "recall@10", "recall@15"];

/** Calibration has its own section, and recall by window a figure. */
const isElsewhere = (metric: string) => /calibrationError$|^recall@\d+ ./i.test(metric);

/** What is forecast: the next record, and records far ahead. */
export function forecastSection(evaluations: readonly Evaluation[]): Section {
	const of = (task: string) => evaluations.find((evaluation) => evaluation.task === task);
	const [next, forecast] = [of("next"), of("forecast")];
	return {
		id: "forecasts",
		title: "How well it forecasts",
		blocks: [
			html`${
				next || forecast
					? ""
					: html`<p>Neither the next record nor records far ahead were evaluated yet; the missing evaluations are listed above.</p>`
			}${next ? evaluated(next, "nats") : ""}${forecast ? evaluated(forecast, "recall@10") : ""}`,
			...(forecast?.windows?.length
				? [
						{
							id: "recall",
							caption:
								"From top to bottom, records further ahead. Each row is one method; where its outline is thick, many patients have that recall.",
							draw: () => recallByWindowFigure(forecast),
						},
					]
				: []),
		],
		rows: () => measureNumbers([next, forecast].filter((one) => one !== undefined)),
	};
}

function evaluated(evaluation: Evaluation, metric: string): Markup {
	const { title, question } = taskOf(evaluation.task);
	const metrics = metricsOf(evaluation.rows, forecastOrder).filter(
		(metric) => !isElsewhere(metric),
	);
	return html`<h3>${title}</h3>
<p>${question}</p>
${measureTable(evaluation, { name: title, metrics })}
${noveltyTables(evaluation, title)}
${pairedMarkup(evaluation, metric)}
${notesMarkup(evaluation.notes)}`;
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
		const isOfNovelty = new RegExp(`^recall@\\S+ ${novelty}$`);
		const metrics = metricsOf(rows, []).filter((metric) => isOfNovelty.test(metric));
		if (metrics.length === 0) return [];
		return [
			html`<p>Of ${what}, ${percent(share)} of the records:</p>
${measureTable(evaluation, { name: `${title}: ${novelty} codes`, metrics })}`,
		];
	});
}

/** Paired differences between the model and each baseline: more precise than the intervals in the table. */
export function pairedMarkup(evaluation: Evaluation, metric: string): Markup {
	if (evaluation.tooFew) return html`<p><b>${evaluation.tooFew}.</b></p>`;
	const model = mainRow(evaluation);
	const comparisons = evaluation.rows.flatMap((row) => {
		const paired = model && row !== model && comparison(evaluation, model, row, metric);
		if (!paired) return [];
		const { size, says } = paired;
		return says({
			better: html`<li>${size} <b>better</b> than ${row.label}</li>`,
			worse: html`<li>${size} <b>worse</b> than ${row.label}</li>`,
			level: html`<li><b>level</b> with ${row.label}: ${size} apart</li>`,
		});
	});
	if (!model || comparisons.length === 0) return html``;
	return html`<p>Patient by patient, by ${measureKind(metric).title.replace(/, .*/, "")}, ${model.label} is</p>
<ul class="paired">${comparisons}</ul>`;
}

export function calibrationSection(evaluations: readonly Evaluation[]): Section[] {
	const curves = calibrationCurves(evaluations);
	if (curves.length === 0) return [];
	const next = evaluations.find(({ task }) => task === "next");
	const measured = (next && mainRow(next)?.metrics) ?? {};
	const sentences = Object.entries(calibrationSentences).flatMap(([metric, words]) => {
		const measure = measured[metric];
		return measure ? [`${words} by ${sizeOf(measure, measureKind(metric))}`] : [];
	});
	return [
		{
			id: "calibration",
			title: "Calibration of other tasks",
			blocks: [
				html`${sentences.length > 0 ? html`<p>For the next record, on average, ${sentences.join("; ")}.</p>` : ""}`,
				{
					id: "calibration",
					caption:
						"On the diagonal, predicted probabilities equal observed frequencies. Above it predictions are too low, below it too high.",
					sizes: ["half", "narrow"],
					draw: (size) => calibrationFigure(curves, size),
				},
			],
			rows: () => curves.flatMap(({ name, bins }) => withFields({ task: name }, bins)),
		},
	];
}

const calibrationSentences = {
	topCalibrationError: "the probability of the first choice differs from how often it was recorded",
	weightedCalibrationError: "the probabilities of all codes, weighted by the probability itself,",
};

const labelledOrder = ["logLoss", "auprc", "auroc", "brierSkill", "calibrationError"];

const ways: Readonly<Record<string, string>> = {
	"zero-shot prototype": "zero-shot: similarity to a typical case",
	"zero-shot risk": "zero-shot: the predicted risk",
	"5-shot": "5-shot: five labelled patients",
	"fine-tuned": "fine-tuned: all labels of the training patients",
};

export const labelledSections = (
	evaluations: readonly Evaluation[],
	labels: readonly LabelSummary[] = [],
): Section[] =>
	evaluations
		.filter((evaluation) => settingRows(evaluation).length > 0)
		.map((evaluation) => labelledSection(labels, evaluation));

function labelledSection(labels: readonly LabelSummary[], evaluation: Evaluation): Section {
	const { title, question } = taskOf(evaluation.task);
	const label = labels.find(({ task }) => task === evaluation.task);
	const counts = label?.splits[evaluation.split];
	return {
		id: `task-${evaluation.task}`,
		title,
		rows: () => measureNumbers([evaluation]),
		blocks: [
			html`<p>${question}${label ? html` <span class="quiet">(${label.rule})</span>` : ""}</p>
${
	counts && counts.labels > 0
		? html`<p>Of ${counted(counts.labels, "patient")}, ${thousands(counts.positive)} (${percent(counts.positive / counts.labels)}) are positive; this share is the AUPRC of guessing.${
				counts.positive < 20 ? " With so few cases the intervals are wide." : ""
			}</p>`
		: ""
}
${measureTable(evaluation, {
	name: title,
	metrics: metricsOf(evaluation.rows, labelledOrder),
	rowName: ({ who, setting, label }) => (who === "model" && setting && ways[setting]) || label,
})}
${notesMarkup(evaluation.notes)}`,
		],
	};
}

export const memoryFigure = (memory: DecayMap, patients = "the"): SectionFigure => ({
	id: "memory",
	caption: `The half-life of each head by the category of the last code, averaged over the records of ${patients} test patients.`,
	sizes: ["half", "narrow"],
	draw: (size) => decayFigure(memory, size),
});
