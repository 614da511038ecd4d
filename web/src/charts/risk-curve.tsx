import type { RiskScale } from "./risk-scale.js";

export interface RiskCurveProps {
	/** Days after the date, increasing. */
	readonly days: readonly number[];
	readonly curve: readonly number[];
	/** Before the edits. */
	readonly before?: readonly number[] | undefined;
	readonly sameAgeAndSex?: readonly number[] | undefined;
	readonly truth?: readonly number[] | undefined;
	readonly colour: string;
	/** Days at which the numbers beside the curve are taken, and their names. */
	readonly marked: readonly { readonly day: number; readonly name: string }[];
	/** Shared with the other curves. */
	readonly scale: RiskScale;
}

export const curveSize = { width: 180, height: 42, axisHeight: 18 } as const;
const { width, height, axisHeight } = curveSize;
const [left, right, top, bottom] = [28, 12, 2, 8];

const placeX = (scale: RiskScale, risk: number) =>
	left + scale.place(risk) * (width - left - right);

/** `0.1`, and `100 %` at the upper end. */
const tickText = (risk: number, isLast: boolean) =>
	`${Number((100 * risk).toPrecision(1))}${isLast ? " %" : ""}`;

/** The axis of the curves below it. */
export function RiskAxis({ scale }: { readonly scale: RiskScale }) {
	return (
		<g className="risk-axis">
			{scale.ticks.map((risk, at) => {
				const isLast = at === scale.ticks.length - 1;
				return (
					<text
						key={risk}
						className="tick"
						x={isLast ? width : placeX(scale, risk)}
						y={axisHeight - 5}
						textAnchor={isLast ? "end" : "middle"}
					>
						{tickText(risk, isLast)}
					</text>
				);
			})}
		</g>
	);
}

/** The cumulative risk from the date on: risk to the right, on a logarithmic scale that all curves share; time downwards. */
export function RiskCurve(props: RiskCurveProps) {
	const { days, curve, before, sameAgeAndSex, truth, colour, marked, scale } = props;
	const last = days.at(-1) ?? 1;
	const x = (risk: number) => placeX(scale, risk);
	const y = (day: number) => top + (day / last) * (height - top - bottom);
	const path = (risks: readonly number[]) =>
		`M${x(0)} ${y(0)}${days.map((day, at) => `L${x(risks[at] ?? 0).toFixed(1)} ${y(day).toFixed(1)}`).join("")}`;
	const at = (risks: readonly number[], day: number) => risks[days.indexOf(day)] ?? 0;
	return (
		<g className="risk-curve">
			{scale.ticks.map((risk) => (
				<line key={risk} className="grid" x1={x(risk)} x2={x(risk)} y1={0} y2={height} />
			))}
			{marked.map(({ day, name }) => (
				<g key={day}>
					<line className="grid" x1={left} x2={width - right} y1={y(day)} y2={y(day)} />
					<text className="tick" x={left - 5} y={y(day) + 4} textAnchor="end">
						{name}
					</text>
				</g>
			))}
			{sameAgeAndSex && <path className="same-age" d={path(sameAgeAndSex)} />}
			{before && <path className="curve-base" stroke={colour} d={path(before)} />}
			<path className="curve" stroke={colour} d={path(curve)} />
			{truth && <path className="truth" d={path(truth)} />}
			{marked.map(({ day }) => (
				<g key={day}>
					{sameAgeAndSex && (
						<circle className="same-age" cx={x(at(sameAgeAndSex, day))} cy={y(day)} r={2.5} />
					)}
					{before && (
						<circle
							className="curve-base"
							stroke={colour}
							cx={x(at(before, day))}
							cy={y(day)}
							r={3}
						/>
					)}
					<circle fill={colour} cx={x(at(curve, day))} cy={y(day)} r={3.5} />
				</g>
			))}
		</g>
	);
}
