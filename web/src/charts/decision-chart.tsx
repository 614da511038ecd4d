import { thousands } from "../../../src/base/thousands.js";
import { roundNumbers } from "../../../src/evaluate/charts/clock.js";
import { percent } from "../../../src/evaluate/charts/numbers.js";
import {
	type Decision,
	decisionFrame,
	decisionLines,
} from "../../../src/evaluate/charts/onset/decision-lines.js";
import { useWidth } from "../parts/hooks.js";
import { percentTicks } from "./percent-ticks.js";

const [left, right, top, bottom, inside] = [44, 22, 22, 40, 190];

/** Net benefit by threshold of risk: the model, a baseline, acting on all; acting on none is 0. */
export function DecisionChart({ decisions }: { readonly decisions: readonly Decision[] }) {
	const [ref, width] = useWidth<HTMLDivElement>();
	const lines = decisionLines(decisions);
	const { thresholds, benefits } = decisionFrame(lines);
	const [[first, last], [least, most]] = [thresholds, benefits];
	const inner = Math.max(10, width - left - right);
	const x = (threshold: number) => left + ((threshold - first) / (last - first || 1)) * inner;
	const y = (benefit: number) => top + ((most - benefit) / (most - least)) * inside;
	const ticks = roundNumbers(first, last, Math.max(2, Math.floor(inner / 70)));
	const thresholdName = percentTicks(ticks);
	const said = lines.map(
		({ name, values }) =>
			`${name}: ${values.map(({ threshold, benefit }) => `${benefit.toFixed(1)} at ${percent(threshold)}`).join(", ")}`,
	);
	return (
		<div className="chart" ref={ref}>
			<svg
				data-drawing
				width={width}
				height={top + inside + bottom}
				role="img"
				aria-label={`Net benefit per 1,000 people by threshold of risk. ${said.join("; ")}`}
			>
				<clipPath id="decision-frame">
					<rect x={left} y={top} width={inner} height={inside} />
				</clipPath>
				<text className="tick" x={4} y={12}>
					net benefit, true cases per 1,000 people
				</text>
				{width > 0 && (
					<>
						{roundNumbers(least, most, 5).map((value) => (
							<g key={value}>
								<line
									className={value === 0 ? "zero" : "grid"}
									x1={left}
									x2={left + inner}
									y1={y(value)}
									y2={y(value)}
								/>
								<text className="tick" x={left - 6} y={y(value) + 4} textAnchor="end">
									{thousands(value).replace("-", "−")}
								</text>
							</g>
						))}
						{ticks.map((value) => (
							<text
								key={value}
								className="tick"
								x={x(value)}
								y={top + inside + 16}
								textAnchor="middle"
							>
								{thresholdName(value)}
							</text>
						))}
						<text className="tick" x={left + inner} y={top + inside + 33} textAnchor="end">
							threshold of risk from which one acts
						</text>
						<g clipPath="url(#decision-frame)">
							{lines.toReversed().map(({ name, kind, values }) => (
								<path
									key={name}
									className={`decision decision-${kind}`}
									d={`M${values.map(({ threshold, benefit }) => `${x(threshold).toFixed(1)} ${y(benefit).toFixed(1)}`).join("L")}`}
								/>
							))}
						</g>
					</>
				)}
			</svg>
		</div>
	);
}
