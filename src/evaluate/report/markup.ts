import { counted } from "../charts/numbers.js";
import { escaped } from "../charts/xml.js";
import type { Evaluation, EvaluationRow, Measure } from "../evaluation.js";
import { interval, type MeasureKind, measureKind, written } from "./measures.js";
import type { DrawnFigure } from "./report.js";

/** HTML text; every other text in a page is escaped. */
export class Markup {
	constructor(readonly text: string) {}
}

type Part = Markup | string | number | undefined | readonly Part[];

/** A template tag: the template is HTML, the inserted values are escaped text. */
export const html = (template: TemplateStringsArray, ...parts: readonly Part[]): Markup =>
	new Markup(template.reduce((all, text, index) => all + textOf(parts[index - 1]) + text));

function textOf(part: Part): string {
	if (part === undefined) return "";
	if (part instanceof Markup) return part.text;
	if (typeof part === "object") return part.map(textOf).join("");
	// Keep a number and its percent sign on one line.
	return escaped(`${part}`).replace(/(\d) %/g, "$1\u00a0%");
}

/** A section of the page, listed in its contents. */
export interface Section {
	readonly id: string;
	readonly title: string;
	readonly body: Part;
	/** Whether it is closed at first. */
	readonly folded?: boolean;
	/** Half as wide as the page on wide screens, next to another half. */
	readonly half?: boolean;
}

/** Sections one below the other; halves side by side. */
export function sectionsMarkup(sections: readonly Section[]): Markup {
	const halves = sections.filter(({ half }) => half);
	const [first] = halves;
	return html`${sections.map((section) => {
		if (!section.half) return sectionMarkup(section);
		return section === first
			? html`<div class="halves">\n${halves.map(sectionMarkup)}</div>\n`
			: "";
	})}`;
}

const sectionMarkup = ({ id, title, body, folded }: Section): Markup =>
	folded
		? html`<section class="folded" aria-labelledby="${id}"><details>
<summary><h2 id="${id}">${title}</h2></summary>
${body}
</details></section>
`
		: html`<section aria-labelledby="${id}">
<h2 id="${id}">${title}</h2>
${body}
</section>
`;

/** A figure with its caption; the SVG has its own title and alternative text. */
export const figureMarkup = ({ id, title, svg, narrow, half, caption }: DrawnFigure): Markup =>
	html`<figure id="${id}"${narrow ? new Markup(` class="both${half ? " half" : ""}"`) : ""}>
${scrolling(title, html`${drawing(svg)}${narrow ? drawing(narrow) : ""}`)}
<figcaption>${caption}</figcaption>
</figure>
`;

/** Keeps the SVG's size: text that is scaled down with it could not be read. */
function drawing(svg: string): Markup {
	if (!svg.startsWith("<svg ")) throw new Error("a drawing of a report must be an svg element");
	return new Markup(svg.trim());
}

interface TableOptions {
	/** Caption for screen readers. */
	readonly name: string;
	readonly metrics: readonly string[];
	readonly rows: readonly EvaluationRow[];
	/** Heading of a row. Default: its label. */
	readonly rowName?: (row: EvaluationRow) => Part;
}

/** A table of measures with intervals; the best value per measure is bold, the oracle excluded. */
export function measureTable(
	{ patients, events, split, draws, tooFew }: Evaluation,
	{ name, metrics, rows, rowName = ({ label }) => label }: TableOptions,
): Markup {
	const best = tooFew
		? new Map<string, EvaluationRow | undefined>()
		: new Map(metrics.map((metric) => [metric, bestOf(rows, metric)]));
	const cell = (row: EvaluationRow, metric: string) => {
		const measure = row.metrics[metric];
		if (!measure) return html`<td class="number none">–</td>`;
		const classes = row === best.get(metric) ? "number best" : "number";
		return html`<td class="${classes}">${measured(measure, measureKind(metric))}</td>`;
	};
	const about = `${counted(patients, "patient")}${events > 0 ? `, ${counted(events, "record")}` : ""} of the ${split} split. Small print: 95 % intervals from ${counted(draws, "bootstrap draw")} over patients. ${tooFew ? `${tooFew}.` : "Bold: the best value, reference model excluded."}`;
	return scrolling(
		name,
		html`<table class="measures">
<caption><span>${about}</span></caption>
<thead><tr><th scope="col">forecast</th>${metrics.map((metric) => html`<th scope="col" class="number">${measureKind(metric).title}</th>`)}</tr></thead>
<tbody>
${rows.map(
	(row) =>
		html`<tr class="${row.who}"><th scope="row">${rowName(row)}</th>${metrics.map((metric) => cell(row, metric))}</tr>\n`,
)}</tbody>
</table>`,
	);
}

/** The best row by a measure, without the oracle; none where values should be near 1. */
export function bestOf(rows: readonly EvaluationRow[], metric: string): EvaluationRow | undefined {
	const { better } = measureKind(metric);
	const worth = ({ metrics }: EvaluationRow) => {
		const { value } = metrics[metric];
		return better === "more" ? value : -value;
	};
	if (better === "near 1") return undefined;
	return rows
		.filter(({ who, metrics }) => who !== "oracle" && who !== "observed" && metrics[metric])
		.toSorted((a, b) => worth(b) - worth(a))[0];
}

/** The measures of the rows; known ones first, in the given order. */
export function metricsOf(
	rows: readonly EvaluationRow[],
	order: readonly string[],
): readonly string[] {
	const there = new Set(rows.flatMap(({ metrics }) => Object.keys(metrics)));
	const known = order.filter((metric) => there.has(metric));
	return [...known, ...[...there].filter((metric) => !known.includes(metric))];
}

/** A table cell: the value, and its interval in small type. */
export const measured = (measure: Measure, kind: MeasureKind): Markup =>
	html`<span class="value">${written(measure.value, kind)}</span> <span class="interval">${interval(measure, kind)}</span>`;

/** A container that scrolls on narrow screens; the tabindex makes it reachable by keyboard. */
export const scrolling = (name: string, inside: Markup): Markup =>
	html`<div class="scrolling" role="group" aria-label="${name}" tabindex="0">${inside}</div>`;
