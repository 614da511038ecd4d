import { roundNumbers } from "../../../src/figures/clock.js";
import { fitted, textWidth } from "../../../src/figures/text.js";
import { useWidth } from "../parts/use-width.js";

export interface IntervalRow {
	readonly name: string;
	readonly value: number;
	readonly low: number;
	readonly high: number;
	readonly own: boolean;
}

interface IntervalChartProps {
	readonly rows: readonly IntervalRow[];
	readonly format: (value: number) => string;
	readonly axis: string;
}

const [rowHeight, top, bottom] = [26, 6, 36];

/** A value and its interval a row; the model's own in colour. */
export function IntervalChart({ rows, format, axis }: IntervalChartProps) {
	const [ref, width] = useWidth<HTMLDivElement>();
	const widest = Math.max(...rows.map(({ name }) => textWidth(name, { size: 12 })));
	const left = Math.min(width * 0.42, widest + 14);
	const right = 62;
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
				aria-label={`${axis}. ${rows.map(({ name, value, low, high }) => `${name}: ${format(value)}, ${format(low)} to ${format(high)}`).join("; ")}`}
			>
				{width > 0 &&
					roundNumbers(from, to, Math.max(2, Math.floor(inner / 62))).map((value) => (
						<g key={value}>
							<line className="grid" x1={x(value)} x2={x(value)} y1={top} y2={end} />
							<text className="tick" x={x(value)} y={end + 16} textAnchor="middle">
								{format(value)}
							</text>
						</g>
					))}
				<text className="tick" x={left + inner} y={end + 31} textAnchor="end">
					{axis}
				</text>
				{width > 0 &&
					rows.map(({ name, value, low, high, own }, at) => {
						const y = top + (at + 0.5) * rowHeight;
						return (
							<g key={name} className={own ? "interval own" : "interval"}>
								<text className="row-name" x={left - 8} y={y + 4} textAnchor="end">
									{fitted(name, left - 12, { size: 12 })}
								</text>
								<line x1={x(low)} x2={x(high)} y1={y} y2={y} />
								<circle cx={x(value)} cy={y} r={own ? 5 : 4} />
								<text className="interval-value" x={left + inner + 6} y={y + 4}>
									{format(value)}
								</text>
							</g>
						);
					})}
			</svg>
		</div>
	);
}
