import { thousands } from "../../../src/base/thousands.js";
import { measureKind, written } from "../../../src/evaluate/report/measures.js";
import { IntervalChart } from "../charts/interval-chart.js";
import type { EvaluationSummary } from "../data/contract.js";

type Rows = EvaluationSummary["rows"];

interface MeasureChartProps {
	readonly name: string;
	readonly rows: Rows;
}

/** One measure of all rows of an evaluation, with intervals. */
export function MeasureChart({ name, rows }: MeasureChartProps) {
	const kind = measureKind(name);
	return (
		<IntervalChart
			axis={`${kind.title}, ${kind.better === "less" ? "lower" : "higher"} is better`}
			format={(value) => written(value, kind)}
			tick={(value) => thousands(Number((kind.scale * value).toPrecision(6)))}
			rows={rows.flatMap(({ label, who, metrics }) => {
				const measure = metrics[name];
				return measure ? [{ name: label, ...measure, own: who === "model" }] : [];
			})}
		/>
	);
}

/** Measures of all rows of an evaluation as a table to save. */
export const measureRows = (head: string, names: readonly string[], rows: Rows) => [
	[head, ...names.flatMap((name) => [name, `${name} low`, `${name} high`])],
	...rows.map(({ label, metrics }) => [
		label,
		...names.flatMap((name) => {
			const { value, low, high } = metrics[name] ?? {};
			return [value ?? null, low ?? null, high ?? null];
		}),
	]),
];
