import { thousands } from "../../../src/base/thousands.js";
import { roundNumbers } from "../../../src/evaluate/charts/clock.js";
import { percent } from "../../../src/evaluate/charts/numbers.js";
import type { CalibrationBin } from "../../../src/evaluate/evaluation.js";
import { useWidth } from "../parts/hooks.js";
import { percentTicks } from "./percent-ticks.js";

interface CalibrationChartProps {
	readonly bins: readonly CalibrationBin[];
	/** For predictions that are mostly near 0. */
	readonly logarithmic: boolean;
	/** The longest side of the square, in pixels. */
	readonly side?: number;
}

const powersOfTen = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1];
const [left, right, top, bottom] = [62, 16, 10, 44];

/** Observed frequency against predicted probability; on the diagonal, both agree. */
export function CalibrationChart({ bins, logarithmic, side = 440 }: CalibrationChartProps) {
	const [ref, width] = useWidth<HTMLDivElement>();
	const inner = Math.min(side, Math.max(10, width - left - right));
	const shown = logarithmic
		? bins.filter(({ predicted, observed }) => predicted > 0 && observed > 0)
		: bins;
	const most = Math.min(
		1,
		Math.max(...shown.flatMap(({ predicted, high }) => [predicted, high]), 1e-6),
	);
	const least = logarithmic
		? Math.max(1e-6, Math.min(...shown.flatMap(({ predicted, observed }) => [predicted, observed])))
		: 0;
	const scale = (value: number) =>
		logarithmic
			? Math.log(Math.max(least, value) / least) / Math.log(most / least || 2)
			: value / most;
	const x = (value: number) => left + scale(value) * inner;
	const y = (value: number) => top + (1 - scale(value)) * inner;
	const ticks = logarithmic
		? powersOfTen
				.flatMap((power) => (most / least < 300 ? [power, 2 * power, 5 * power] : [power]))
				.filter((value) => value >= least && value <= most)
		: roundNumbers(0, most, 5);
	const name = (value: number) =>
		value === 0 ? "0" : value < 1e-4 ? value.toExponential(0) : percent(value);
	// Powers of ten are written as short as possible; even steps all have the same precision.
	const tickName = logarithmic
		? (value: number) => (value < 1e-4 ? name(value) : `${Number((100 * value).toPrecision(1))} %`)
		: percentTicks(ticks);
	return (
		<div className="chart" ref={ref}>
			<svg
				data-drawing
				width={Math.min(width, left + inner + right)}
				height={top + inner + bottom}
				role="img"
				aria-label={`Calibration. ${shown.map(({ predicted, observed }) => `predicted ${name(predicted)}, observed ${name(observed)}`).join("; ")}`}
			>
				{width > 0 && (
					<>
						{ticks.map((value) => (
							<g key={value}>
								<line className="grid" x1={x(value)} x2={x(value)} y1={top} y2={top + inner} />
								<line className="grid" x1={left} x2={left + inner} y1={y(value)} y2={y(value)} />
								<text className="tick" x={x(value)} y={top + inner + 16} textAnchor="middle">
									{tickName(value)}
								</text>
								<text className="tick" x={left - 6} y={y(value) + 4} textAnchor="end">
									{tickName(value)}
								</text>
							</g>
						))}
						<line className="diagonal" x1={x(least)} y1={y(least)} x2={x(most)} y2={y(most)} />
						{shown.map(({ predicted, observed, low, high, count }) => (
							<g key={predicted} className="interval own">
								<line x1={x(predicted)} x2={x(predicted)} y1={y(low)} y2={y(high)} />
								<circle cx={x(predicted)} cy={y(observed)} r={4.5}>
									<title>{`predicted ${name(predicted)}, observed ${name(observed)}, ${thousands(count)} predictions`}</title>
								</circle>
							</g>
						))}
						<text className="tick" x={left + inner} y={top + inner + 34} textAnchor="end">
							predicted{logarithmic ? " (logarithmic)" : ""}
						</text>
						<text className="tick" x={left + 6} y={top + 12}>
							observed
						</text>
					</>
				)}
			</svg>
		</div>
	);
}
