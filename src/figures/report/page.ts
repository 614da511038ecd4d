import { counted } from "../numbers.js";
import { findings } from "./findings.js";
import { html, Markup } from "./html.js";
import type { Report } from "./report.js";
import { sectionMarkup } from "./section.js";
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
<p class="kicker">${report.model.name} · ${report.name}</p>
<h1>What comes next in a health history?</h1>
<p class="lead">${introduction(report)}</p>
</header>
<main>
${findingsMarkup(report)}
${missingMarkup(report)}
<nav aria-label="Contents">
<h2>Contents</h2>
<ol>${sections.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}</ol>
</nav>
${sections.map(sectionMarkup)}
</main>
<footer><p>Made by trajgpt from a run it trained. ${report.model.cite}. Not a medical device.</p></footer>
</body>
</html>
`;
	return page.text;
}

function introduction({ model, manifest, simulated, split }: Report): string {
	const { train, [split]: measured } = manifest.counts.splits;
	const whose = simulated ? "simulated people" : "people";
	return (
		`${model.name}, a model with ${counted(model.parameters, "weight")}, was trained on ${counted(train.events, "record")} of ${train.patients.toLocaleString("en-US")} ${whose} to predict which code is recorded at a given date, and how likely it is. ` +
		`This page shows how well it does so for ${measured.patients.toLocaleString("en-US")} ${whose} it has never seen.`
	);
}

function findingsMarkup(report: Report): Markup {
	const found = findings(report);
	return html`<section class="findings" aria-labelledby="findings">
<h2 id="findings">Key findings</h2>
${
	found.length === 0
		? html`<p>Nothing was measured yet, so there are no findings.</p>`
		: html`<ul>
${found.map(({ value, label, says }) => html`<li><p class="number"><strong>${value}</strong> <span>${label}</span></p><p>${says}</p></li>\n`)}</ul>`
}
</section>
`;
}

/** Missing and outdated evaluations, shown before the numbers. */
function missingMarkup({ missing, warnings }: Report): Markup {
	if (missing.length + warnings.length === 0) return html``;
	return html`<aside aria-label="Before you read on">
${warnings.map((warning) => html`<p>${warning}</p>\n`)}${
	missing.length === 0
		? ""
		: html`<p>Not measured yet, with the commands that do it (RUN is the run’s folder):</p>
<ul>${missing.map(({ what, command }) => html`<li>${what}: <code>${command}</code></li>\n`)}</ul>
`
}</aside>
`;
}
