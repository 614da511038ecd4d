import type { Markish } from "@observablehq/plot";
import { dot, line } from "@observablehq/plot";
import type { Point } from "../place-labels.js";
import { theme } from "../theme.js";
import { curveColour, curveSymbol, type RiskLayout } from "./layout.js";
import { type NumberedSurge, type RiskCurve, type RiskPicture, riskAt } from "./picture.js";

/** Lines, solid in the observed span and dashed outside, with symbols if there are several. */
export function curveMarks(
	{ curves }: RiskPicture,
	at: number,
	layout: RiskLayout,
	surges: readonly NumberedSurge[],
): Markish[] {
	const curve = curves[at] as RiskCurve;
	const stroke = curveColour(at);
	const points = [...curve.times.keys()].map((index) => {
		const time = curve.times[index] as number;
		return {
			time,
			risk: curve.risk[index] as number,
			solid: curve.places[index] === "inside" && time >= layout.observed[0],
			recorded: curve.recorded[index] === 1,
		};
	});
	const stretches: { solid: boolean; points: typeof points }[] = [];
	for (const point of points) {
		const last = stretches.at(-1);
		// Onset and recurrence are two quantities: no line leads from one to the other.
		if (last?.points[0]?.recorded !== point.recorded)
			stretches.push({ solid: point.solid, points: [point] });
		else if (last.solid === point.solid) last.points.push(point);
		else {
			// The dashed part overlaps the solid one, so that the line has no gap.
			const before = last.solid ? last.points.slice(-1) : [];
			if (!last.solid) last.points.push(point);
			stretches.push({ solid: point.solid, points: [...before, point] });
		}
	}
	const alone = stretches.flatMap((own) => (own.points.length === 1 ? own.points : []));
	const steps = 7;
	const marked =
		curves.length > 1
			? Array.from({ length: steps }, (_, step) => {
					const part = (step + (at + 0.5) / curves.length) / steps;
					const time = layout.domain[0] + part * (layout.domain[1] - layout.domain[0]);
					return { time, risk: riskAt(curve, time) };
				}).filter(({ time }) => isWithin(curve, time))
			: [];
	const style = { x: "time", y: "risk" } as const;
	return [
		...surges
			.filter((surge) => surge.curve === at)
			.map(({ from, to }) =>
				line(
					points.filter(({ time }) => time >= from && time <= to),
					{ ...style, stroke, strokeWidth: 8, strokeOpacity: 0.28, strokeLinecap: "round" },
				),
			),
		...stretches.map(({ solid, points }) =>
			line(points, {
				...style,
				stroke,
				strokeWidth: solid ? 2.4 : 2,
				...(!solid && { strokeDasharray: "5,4" }),
			}),
		),
		dot([...alone, ...marked], {
			...style,
			symbol: curveSymbol(at),
			r: 4.4,
			fill: stroke,
			stroke: theme.background,
			strokeWidth: 1,
		}),
	];
}

/** The lines as points dense enough to keep labels off them. */
export function curvePixels({ curves, whatIf }: RiskPicture, layout: RiskLayout): Point[] {
	const step = 4;
	return [...curves, ...(whatIf?.curves ?? [])].flatMap((curve) =>
		Array.from(
			{ length: Math.floor(layout.inner / step) + 1 },
			(_, at) => layout.marginLeft + at * step,
		)
			.filter((x) => isWithin(curve, layout.timeAt(x)))
			.map((x) => ({ x, y: layout.height(riskAt(curve, layout.timeAt(x))) })),
	);
}

const isWithin = ({ times }: Pick<RiskCurve, "times">, time: number) =>
	time >= (times[0] ?? Number.POSITIVE_INFINITY) && time <= (times.at(-1) as number);
