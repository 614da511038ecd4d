import { html } from "./html.js";
import type { Report } from "./report.js";
import type { Section } from "./section.js";

/** What is needed to reproduce the numbers. */
export const provenanceSection = ({ provenance }: Report): Section => ({
	id: "made",
	title: "What was run",
	body: html`<div class="facts">
${provenance.map(
	({ title, facts }) => html`<div>
<h3>${title}</h3>
<dl>${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>\n`)}</dl>
</div>
`,
)}</div>`,
});
