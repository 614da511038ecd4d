import { simulatedText } from "../../base/simulated.js";
import { thousands } from "../../base/thousands.js";
import { counted } from "../charts/numbers.js";
import { calibrationSection, forecastSection, labelledSections } from "./evaluation-sections.js";
import { furtherFindings, leadingFindings } from "./findings.js";
import { type DrawFigure, html, Markup, type Section, sectionsMarkup } from "./markup.js";
import type { Finding } from "./onset-findings.js";
import { beforeSection, conditionSections, onsetOf, onsetSections } from "./onset-sections.js";
import type { Report } from "./report.js";
import {
	cohortSection,
	learnedSection,
	learningSection,
	limitsSection,
	patientsSection,
	provenanceSection,
	readingSection,
} from "./sections.js";
import { style } from "./style.js";

/** The report as one HTML file, without scripts and network access. */
export function reportPage(report: Report, draw: DrawFigure): string {
	const { model, name, simulated, warnings } = report;
	const sections = sectionsOf(report);
	const [leading, further] = [leadingFindings(report), furtherFindings(report)];
	const [first, others] = leading.length > 0 ? [leading, further] : [further, []];
	const otherFindings = {
		id: "other-findings",
		title: "Findings on other tasks",
		folded: true,
		blocks: [html`<div class="findings">${findingList(others)}</div>`],
	};
	const isOnOnset = (warning: string) => warning.includes("“onset”");
	const hasOnsets = report.evaluations.some(({ task }) => task === "onset");
	return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${model.name}: ${name}</title>
<style>${new Markup(style)}</style>
</head>
<body>
<a class="skip" href="#findings">To the findings</a>
<header>
<p class="kicker">${model.name} · ${name}${simulated ? html` <span class="simulated">${simulatedText}</span>` : ""}</p>
<h1>${hasOnsets ? "Who gets what, by when?" : "What is recorded next?"}</h1>
<p class="lead">${introduction(report, hasOnsets)}</p>
</header>
<main>
${warningsMarkup(warnings.filter(isOnOnset))}
<section class="findings" aria-labelledby="findings">
<h2 id="findings">Key findings</h2>
${
	first.length === 0
		? html`<p>Nothing was measured yet, so there are no findings.</p>`
		: findingList(first, leading.length > 0 ? "cards" : "list")
}
</section>

${sectionsMarkup(
	sections.filter(({ folded }) => !folded),
	draw,
)}
${missingMarkup(
	report.missing,
	warnings.filter((warning) => !isOnOnset(warning)),
)}
${sectionsMarkup([...(others.length > 0 ? [otherFindings] : []), ...sections.filter(({ folded }) => folded)], draw)}
</main>
<footer><p>Made by trajgpt from a run it trained. ${model.cite}. Not a medical device.${simulated ? ` ${simulatedText.replace(/^s/, "S")}.` : ""}</p></footer>
</body>
</html>
`.text;
}

function introduction({ model, manifest, simulated, split }: Report, hasOnsets: boolean): string {
	const aim = hasOnsets
		? "who is diagnosed with what, and by when"
		: "which codes are recorded next";
	const { train, [split]: measured } = manifest.counts.splits;
	const whose = simulated ? "simulated people" : "people";
	return (
		`${model.name}, a model with ${counted(model.parameters, "weight")}, was trained on ${counted(train.events, "record")} of ${thousands(train.patients)} ${whose} to predict ${aim}. ` +
		`This page shows how well it does so for ${thousands(measured.patients)} ${whose} it has never seen.`
	);
}

const findingList = (list: readonly Finding[], kind = "list"): Markup => html`<ul class="${kind}">
${list.map(({ value, label, says, isWeak }) => html`<li${isWeak ? html` class="weak"` : ""}><p class="number"><strong>${value}</strong> <span>${label}</span></p><p>${says}</p></li>\n`)}</ul>`;

const warningsMarkup = (warnings: readonly string[]): Markup =>
	warnings.length === 0
		? html``
		: html`<aside aria-label="Before you read on">${warnings.map((warning) => html`<p>${warning}</p>\n`)}</aside>`;

/** Missing and outdated evaluations of other tasks, shown before their numbers. */
function missingMarkup(missing: Report["missing"], warnings: readonly string[]): Markup {
	const count = missing.length + warnings.length;
	if (count === 0) return html``;
	return html`<details class="missing"><summary>Not measured yet, or out of date: ${count}</summary>
${warnings.map((warning) => html`<p>${warning}</p>\n`)}${
	missing.length === 0
		? ""
		: html`<p>Not measured yet, with the commands that do it (RUN is the run’s folder):</p>
<ul>${missing.map(({ what, command }) => html`<li>${what}: <code>${command}</code></li>\n`)}</ul>
`
}</details>
`;
}

/** In reading order: first records and limits, on two screens; then, folded, everything else. */
export function sectionsOf(report: Report): readonly Section[] {
	const { evaluations, summary } = report;
	const onset = onsetOf(evaluations);
	const folded = [
		...beforeSection(report),
		...(onset ? conditionSections(onset) : []),
		cohortSection(report),
		forecastSection(evaluations),
		...labelledSections(evaluations, summary.labels),
		...calibrationSection(evaluations),
		...patientsSection(report),
		learnedSection(report),
		learningSection(report),
		provenanceSection(report),
		readingSection(report),
	];
	return [
		...(onset ? onsetSections(onset, { mostCurves: 2 }) : []),
		limitsSection(report),
		...folded.map((section) => ({ ...section, folded: true })),
	];
}
