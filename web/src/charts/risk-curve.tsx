interface RiskCurveProps {
	/** Days after the date, increasing. */
	readonly days: readonly number[];
	readonly curve: readonly number[];
	/** Before the edits. */
	readonly before?: readonly number[] | undefined;
	readonly sameAgeAndSex?: readonly number[] | undefined;
	readonly truth?: readonly number[] | undefined;
	readonly colour: string;
	/** Days at which the numbers beside the curve are taken. */
	readonly marked: readonly number[];
}

const [width, height, edge] = [148, 42, 3];

/** The cumulative risk from the date on. Each curve has its own vertical scale, without an axis; the row gives the numbers. */
export function RiskCurve(props: RiskCurveProps) {
	const { days, curve, before, sameAgeAndSex, truth, colour, marked } = props;
	const last = days.at(-1) ?? 1;
	const most = Math.max(1e-6, ...[curve, before, sameAgeAndSex, truth].flatMap((own) => own ?? []));
	const x = (day: number) => edge + (day / last) * (width - 2 * edge);
	const y = (risk: number) => height - edge - (risk / most) * (height - 2 * edge);
	const path = (risks: readonly number[]) =>
		`M${x(0)} ${y(0)}${days.map((day, at) => `L${x(day).toFixed(1)} ${y(risks[at] ?? 0).toFixed(1)}`).join("")}`;
	return (
		<svg className="risk-curve" width={width} height={height} aria-hidden="true">
			{marked.map((day) => (
				<line key={day} className="grid" x1={x(day)} x2={x(day)} y1={edge} y2={height - edge} />
			))}
			<line className="grid" x1={x(0)} x2={x(last)} y1={y(0)} y2={y(0)} />
			{sameAgeAndSex && <path className="same-age" d={path(sameAgeAndSex)} />}
			{before && <path className="curve-base" stroke={colour} d={path(before)} />}
			<path className="curve" stroke={colour} d={path(curve)} />
			{truth && <path className="truth" d={path(truth)} />}
		</svg>
	);
}
