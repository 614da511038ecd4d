import { durationName } from "../histogram-panel.js";
import { counted, percent, thousands } from "../numbers.js";
import { html } from "./html.js";
import type { Report } from "./report.js";
import { figureMarkup, type Section } from "./section.js";

const splitNames = {
	train: "training",
	valid: "validation (choosing the best epoch)",
	test: "test (never seen in training)",
} as const;

export function cohortSection({ summary, simulated, figures }: Report): Section {
	const { all, splits, codes } = summary;
	const typical = [
		...(all.records ? [`${thousands(all.records.median)} records`] : []),
		...(all.spanDays ? [`over ${durationName(all.spanDays.median)}`] : []),
	];
	const caption = "Patients and their records";
	return {
		id: "cohort",
		title: "The people",
		body: html`<p>${simulated ? "Simulated" : "Recorded"} histories of ${counted(all.patients, "patient")}: ${counted(all.events, "record")} of ${counted(codes.length, "code")}. ${
			typical.length > 0 ? `Half of the patients have at least ${typical.join(" ")}.` : ""
		}</p>
<div class="scrolling"><table>
<caption>${caption}</caption>
<thead><tr><th scope="col">used for</th><th scope="col" class="number">patients</th><th scope="col" class="number">records</th><th scope="col" class="number">women</th></tr></thead>
<tbody>
${(["train", "valid", "test"] as const).map((split) => {
	const { patients, events, female, male } = splits[split];
	return html`<tr><th scope="row">${splitNames[split]}</th><td class="number">${thousands(patients)}</td><td class="number">${thousands(events)}</td><td class="number">${female + male > 0 ? percent(female / (female + male)) : "–"}</td></tr>\n`;
})}</tbody>
</table></div>
${figureMarkup(figures.dataset)}`,
	};
}
