import type { Evaluation } from "../../evaluate/evaluation.js";
import { counted, percent, thousands } from "../numbers.js";
import { notes } from "./forecast-section.js";
import { html } from "./html.js";
import type { Report } from "./report.js";
import { settingRows } from "./rows.js";
import type { Section } from "./section.js";
import { measureTable, metricsOf } from "./table.js";
import { taskOf } from "./tasks.js";

const order = ["auprc", "auroc", "brier", "calibrationError"];

const ways: Readonly<Record<string, string>> = {
	"zero-shot prototype": "zero-shot: likeness to a typical case",
	"zero-shot risk": "zero-shot: the model’s own risk",
	"5-shot": "5-shot: five labelled patients",
	"fine-tuned": "fine-tuned: all labels of the training patients",
};

/** One section per labelled task. */
export const labelledSections = (report: Report): Section[] =>
	report.evaluations
		.filter((evaluation) => settingRows(evaluation).length > 0)
		.map((evaluation) => labelledSection(report, evaluation));

function labelledSection({ summary }: Report, evaluation: Evaluation): Section {
	const { title, question } = taskOf(evaluation.task);
	const label = summary.labels.find(({ task }) => task === evaluation.task);
	const counts = label?.splits[evaluation.split];
	const { rows } = evaluation;
	return {
		id: `task-${evaluation.task}`,
		title,
		body: html`<p>${question}${label ? html` <span class="quiet">(${label.rule})</span>` : ""}</p>
${
	counts && counts.labels > 0
		? html`<p>Asked of ${counted(counts.labels, "patient")}, it came true for ${thousands(counts.positive)}, ${percent(counts.positive / counts.labels)}: the AUPRC of guessing.${
				counts.positive < 20
					? " So few cases leave wide intervals: read them before the values."
					: ""
			}</p>`
		: ""
}
${measureTable(evaluation, {
	name: title,
	metrics: metricsOf(rows, order),
	rows,
	rowName: ({ who, setting, label }) => (who === "model" && setting && ways[setting]) || label,
})}
${notes(evaluation)}`,
	};
}
