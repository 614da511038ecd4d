import type { Figure } from "../charts/figure.js";
import { counted } from "../charts/numbers.js";
import type { FigureSize } from "../charts/theme.js";
import { escaped } from "../charts/xml.js";
import type { Evaluation, EvaluationRow, Measure } from "../evaluation.js";
import { interval, type MeasureKind, measureKind, written } from "./measures.js";

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

/** A figure of a section. */
export interface SectionFigure {
	readonly id: string;
	readonly caption: string;
	/** Sizes that it can have besides the wide one. */
	readonly sizes?: readonly FigureSize[];
	readonly draw: (size: FigureSize) => Figure;
}

/** A part of the report, or a panel of the page: what it says, its figures, and its numbers. */
export interface Section {
	readonly id: string;
	readonly title: string;
	/** Words and figures, in reading order. */
	readonly blocks: readonly (Markup | SectionFigure)[];
	/** The numbers, as a table to save. */
	readonly rows?: () => readonly object[];
	/** Whether it is closed at first. */
	readonly folded?: boolean;
	/** Half as wide as the page on wide screens, next to another half. */
	readonly half?: boolean;
}

/** The SVG of a figure, whose ids begin with `ids`. */
export type DrawFigure = (figure: Figure, ids: string) => string;

/** Sections one below the other; halves side by side. */
export function sectionsMarkup(sections: readonly Section[], draw: DrawFigure): Markup {
	const halves = sections.filter(({ half }) => half);
	const [first] = halves;
	const markup = (section: Section) => sectionMarkup(section, draw);
	return html`${sections.map((section) => {
		if (!section.half) return markup(section);
		return section === first ? html`<div class="halves">\n${halves.map(markup)}</div>\n` : "";
	})}`;
}

function sectionMarkup({ id, title, blocks, folded, half }: Section, draw: DrawFigure): Markup {
	const body = blocks.map((block) =>
		block instanceof Markup ? block : figureMarkup(block, half ? "half" : "wide", draw),
	);
	return folded
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
}

/** A figure with its caption, and a drawing for telephones if it has one; they keep their sizes: smaller text could not be read. */
function figureMarkup(
	{ id, caption, sizes = [], draw: figureOf }: SectionFigure,
	size: FigureSize,
	draw: DrawFigure,
): Markup {
	const drawing = (size: FigureSize, ids: string) => new Markup(draw(figureOf(size), ids).trim());
	const narrow = sizes.includes("narrow") ? drawing("narrow", `${id}-narrow-`) : undefined;
	return html`<figure id="figure-${id}"${narrow ? new Markup(` class="both${size === "half" ? " half" : ""}"`) : ""}>
${scrolling(figureOf(size).title, html`${drawing(size, `${id}-`)}${narrow}`)}
<figcaption>${caption}</figcaption>
</figure>
`;
}

interface TableOptions {
	/** Name for screen readers. */
	readonly name: string;
	readonly caption: Part;
	/** Headings of the columns: first that of the rows, then those of numbers. */
	readonly head: readonly string[];
	readonly rows: readonly Part[];
	/** Whether it is only as wide as its text. */
	readonly compact?: boolean;
}

/** A table with a caption, which scrolls where it does not fit. */
export const table = ({ name, caption, head: [first, ...others], rows, compact }: TableOptions) =>
	scrolling(
		name,
		html`<table${compact ? "" : html` class="measures"`}>
<caption><span>${caption}</span></caption>
<thead><tr><th scope="col">${first}</th>${others.map((title) => html`<th scope="col" class="number">${title}</th>`)}</tr></thead>
<tbody>
${rows}</tbody>
</table>`,
	);

/** A row of a table: its heading, and cells of numbers. */
export const tableRow = (heading: Part, cells: readonly Part[], kind?: string): Markup =>
	html`<tr${kind ? html` class="${kind}"` : ""}><th scope="row">${heading}</th>${cells}</tr>\n`;

export const numberCell = (value: Part, kind?: string): Markup =>
	html`<td class="number${kind ? ` ${kind}` : ""}">${value}</td>`;

/** Rows of measures with intervals; the best value per measure is bold, the oracle excluded. */
export function measureRows(
	rows: readonly EvaluationRow[],
	metrics: readonly string[],
	{ hasBest = true, rowName = ({ label }: EvaluationRow): Part => label } = {},
): Markup[] {
	const best = new Map(hasBest ? metrics.map((metric) => [metric, bestOf(rows, metric)]) : []);
	return rows.map((row) =>
		tableRow(
			rowName(row),
			metrics.map((metric) => {
				const measure = row.metrics[metric];
				if (!measure) return numberCell("–", "none");
				const kind = row === best.get(metric) ? "best" : undefined;
				return numberCell(measured(measure, measureKind(metric)), kind);
			}),
			row.who,
		),
	);
}

/** Every measure of some evaluations, as a table to save. */
export const measureNumbers = (evaluations: readonly Evaluation[]) =>
	evaluations.flatMap(({ task, rows }) =>
		rows.flatMap(({ label, metrics }) =>
			Object.entries(metrics).map(([name, measure]) => ({ task, label, name, ...measure })),
		),
	);

/** Rows of a table to save, with some cells that all have. */
export const withFields = (fields: object, values: readonly object[]) =>
	values.map((value) => ({ ...fields, ...value }));

/** A table of the measures of an evaluation; rows are named by their label, unless `rowName` says otherwise. */
export function measureTable(
	{ patients, events, split, draws, tooFew, rows }: Evaluation,
	{
		name,
		metrics,
		rowName,
	}: {
		readonly name: string;
		readonly metrics: readonly string[];
		readonly rowName?: (row: EvaluationRow) => Part;
	},
): Markup {
	return table({
		name,
		caption: `${counted(patients, "patient")}${events > 0 ? `, ${counted(events, "record")}` : ""} of the ${split} split. Small print: 95 % intervals from ${counted(draws, "bootstrap draw")} over patients. ${tooFew ? `${tooFew}.` : "Bold: the best value, reference model excluded."}`,
		head: ["forecast", ...metrics.map((metric) => measureKind(metric).title)],
		rows: measureRows(rows, metrics, { hasBest: !tooFew, ...(rowName && { rowName }) }),
	});
}

export const notesMarkup = (notes: readonly string[]): Markup =>
	notes.length === 0
		? html``
		: html`<ul class="notes">${notes.map((note) => html`<li>${note}</li>`)}</ul>`;

/** The best row by a measure, without the oracle; none where values should be near 1. */
function bestOf(rows: readonly EvaluationRow[], metric: string): EvaluationRow | undefined {
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
const measured = (measure: Measure, kind: MeasureKind): Markup =>
	html`<span class="value">${written(measure.value, kind)}</span> <span class="interval">${interval(measure, kind)}</span>`;

/** A container that scrolls on narrow screens; the tabindex makes it reachable by keyboard. */
const scrolling = (name: string, inside: Markup): Markup =>
	html`<div class="scrolling" role="group" aria-label="${name}" tabindex="0">${inside}</div>`;
