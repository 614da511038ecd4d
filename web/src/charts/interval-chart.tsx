import { thousands } from "../../../src/base/thousands.js";
import { roundNumbers } from "../../../src/evaluate/charts/clock.js";
import { fitted, textWidth } from "../../../src/evaluate/charts/text.js";
import { measureKind, written } from "../../../src/evaluate/report/measures.js";
import type { EvaluationSummary } from "../data/contract.js";
import { useWidth } from "../parts/hooks.js";

export interface IntervalRow {
	readonly name: string;
	readonly value: number;
	/** No interval is drawn if both limits are equal, as they are without events. */
	readonly low: number;
	readonly high: number;
	readonly own: boolean;
}

interface IntervalChartProps {
	readonly rows: readonly IntervalRow[];
	readonly format: (value: number) => string;
	/** Formats a tick of the axis. */
	readonly tick: (value: number) => string;
	readonly axis: string;
}

const [top, bottom, right] = [6, 36, 62];

/** One value with its interval per row; the model's own row in colour. */
export function IntervalChart({ rows, format, tick, axis }: IntervalChartProps) {
	const [ref, width] = useWidth<HTMLDivElement>();
	// Fonts that replace Arial are up to a sixth wider.
	const widest =
		1.16 * Math.max(...rows.map(({ name }) => textWidth(name, { size: 12, bold: true })));
	// Names too wide for the margin go above their lines.
	const above = widest + 14 > 0.36 * width;
	// Half of a tick's text is left of the axis.
	const left = above ? 14 : widest + 14;
	const rowHeight = above ? 36 : 26;
	const [least, most] = [
		Math.min(...rows.map(({ low }) => low)),
		Math.max(...rows.map(({ high }) => high)),
	];
	const from = least >= 0 && least < 0.5 * most ? 0 : least - 0.08 * (most - least || 1);
	const to = most + 0.04 * (most - from || 1);
	const inner = Math.max(10, width - left - right);
	const x = (value: number) => left + ((value - from) / (to - from)) * inner;
	const end = top + rows.length * rowHeight;
	return (
		<div className="chart" ref={ref}>
			<svg
				data-drawing
				width={width}
				height={end + bottom}
				role="img"
				aria-label={`${axis}. ${rows.map(({ name, value, low, high }) => `${name}: ${format(value)}${low < high ? `, ${format(low)} to ${format(high)}` : ""}`).join("; ")}`}
			>
				{width > 0 &&
					roundNumbers(from, to, Math.max(2, Math.floor(inner / 50))).map((value) => (
						<g key={value}>
							<line className="grid" x1={x(value)} x2={x(value)} y1={top} y2={end} />
							<text className="tick" x={x(value)} y={end + 16} textAnchor="middle">
								{tick(value)}
							</text>
						</g>
					))}
				<text className="tick" x={left + inner} y={end + 31} textAnchor="end">
					{axis}
				</text>
				{width > 0 &&
					rows.map(({ name, value, low, high, own }, at) => {
						const row = top + at * rowHeight;
						const y = row + (above ? 26 : 13);
						return (
							<g key={name} className={own ? "interval own" : "interval"}>
								<text
									className="row-name"
									x={above ? 2 : left - 8}
									y={above ? row + 14 : y + 4}
									textAnchor={above ? "start" : "end"}
								>
									{fitted(name, above ? width - left : left - 12, { size: 12, bold: own })}
								</text>
								{low < high && <line x1={x(low)} x2={x(high)} y1={y} y2={y} />}
								<circle cx={x(value)} cy={y} r={own ? 5 : 4} />
								<text className="interval-value" x={left + inner + 8} y={y + 4}>
									{format(value)}
								</text>
							</g>
						);
					})}
			</svg>
		</div>
	);
}

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
