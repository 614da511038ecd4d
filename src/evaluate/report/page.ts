import { simulatedText } from "../../base/simulated.js";
import { thousands } from "../../base/thousands.js";
import { counted } from "../charts/numbers.js";
import { furtherFindings, leadingFindings } from "./findings.js";
import { html, Markup, type Section, sectionsMarkup } from "./markup.js";
import type { Finding } from "./onset-findings.js";
import type { Report } from "./report.js";
import { sectionsOf } from "./sections.js";
import { style } from "./style.js";

/** The report as one HTML file, without scripts and network access. */
export function reportPage(report: Report): string {
	const sections = sectionsOf(report);
	const title = `${report.model.name}: ${report.name}`;
	const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>${new Markup(style)}</style>
</head>
<body>
<a class="skip" href="#findings">To the findings</a>
<header>
<p class="kicker">${report.model.name} · ${report.name}${report.simulated ? html` <span class="simulated">${simulatedText}</span>` : ""}</p>
<h1>${hasOnsets(report) ? "Who gets what, by when?" : "What is recorded next?"}</h1>
<p class="lead">${introduction(report)}</p>
</header>
<main>
${warningsMarkup(report.warnings.filter(isOnOnset))}
${findingsMarkup(report)}
${sectionsMarkup(sections.filter(({ folded }) => !folded))}
${missingMarkup(report)}
${sectionsMarkup([...otherFindings(report), ...sections.filter(({ folded }) => folded)])}
</main>
<footer><p>Made by trajgpt from a run it trained. ${report.model.cite}. Not a medical device.${report.simulated ? ` ${simulatedText.replace(/^s/, "S")}.` : ""}</p></footer>
</body>
</html>
`;
	return page.text;
}

/** Whether first records were measured, the question that otherwise leads the page. */
const hasOnsets = ({ evaluations }: Report) => evaluations.some(({ task }) => task === "onset");

function introduction(report: Report): string {
	const { model, manifest, simulated, split } = report;
	const aim = hasOnsets(report)
		? "who is diagnosed with what, and by when"
		: "which codes are recorded next";
	const { train, [split]: measured } = manifest.counts.splits;
	const whose = simulated ? "simulated people" : "people";
	return (
		`${model.name}, a model with ${counted(model.parameters, "weight")}, was trained on ${counted(train.events, "record")} of ${thousands(train.patients)} ${whose} to predict ${aim}. ` +
		`This page shows how well it does so for ${thousands(measured.patients)} ${whose} it has never seen.`
	);
}

/** Findings that do not lead the page. */
const otherFindings = (report: Report): Section[] => {
	const further = furtherFindings(report);
	return leadingFindings(report).length === 0 || further.length === 0
		? []
		: [
				{
					id: "other-findings",
					title: "Findings on other tasks",
					folded: true,
					body: html`<div class="findings">${findingList(further)}</div>`,
				},
			];
};

function findingsMarkup(report: Report): Markup {
	const [leading, further] = [leadingFindings(report), furtherFindings(report)];
	const first = leading.length > 0 ? leading : further;
	return html`<section class="findings" aria-labelledby="findings">
<h2 id="findings">Key findings</h2>
${
	first.length === 0
		? html`<p>Nothing was measured yet, so there are no findings.</p>`
		: findingList(first, leading.length > 0 ? "cards" : "list")
}
</section>
`;
}

const findingList = (list: readonly Finding[], kind = "list"): Markup => html`<ul class="${kind}">
${list.map(({ value, label, says, isWeak }) => html`<li${isWeak ? html` class="weak"` : ""}><p class="number"><strong>${value}</strong> <span>${label}</span></p><p>${says}</p></li>\n`)}</ul>`;

const isOnOnset = (warning: string) => warning.includes("“onset”");

const warningsMarkup = (warnings: readonly string[]): Markup =>
	warnings.length === 0
		? html``
		: html`<aside aria-label="Before you read on">${warnings.map((warning) => html`<p>${warning}</p>\n`)}</aside>`;

/** Missing and outdated evaluations of other tasks, shown before their numbers. */
function missingMarkup({ missing, warnings }: Report): Markup {
	const others = warnings.filter((warning) => !isOnOnset(warning));
	if (missing.length + others.length === 0) return html``;
	return html`<details class="missing"><summary>Not measured yet, or out of date: ${missing.length + others.length}</summary>
${others.map((warning) => html`<p>${warning}</p>\n`)}${
	missing.length === 0
		? ""
		: html`<p>Not measured yet, with the commands that do it (RUN is the run’s folder):</p>
<ul>${missing.map(({ what, command }) => html`<li>${what}: <code>${command}</code></li>\n`)}</ul>
`
}</details>
`;
}
