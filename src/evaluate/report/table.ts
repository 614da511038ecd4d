import { counted } from "../charts/numbers.js";
import type { Evaluation, EvaluationRow, Measure } from "../evaluation.js";
import { html, type Markup, type Part } from "./html.js";
import { interval, type MeasureKind, measureKind, written } from "./measures.js";

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
		const { value } = metrics[metric]!;
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
