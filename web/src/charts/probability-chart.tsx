import { useId, useState } from "react";
import { type Clock, roundNumbers, spanName } from "../../../src/evaluate/charts/clock.js";
import { percent } from "../../../src/evaluate/charts/numbers.js";
import type { Numbered } from "../../../src/evaluate/charts/risk/picture.js";
import type { Surge } from "../../../src/predict/surges.js";
import type { Curve } from "../engine/panels.js";
import { useWidth } from "../parts/use-width.js";
import { momentText } from "../parts/words.js";
import { gutter } from "./gutter.js";
import { percentTicks } from "./percent-ticks.js";
import { TimeAxis } from "./time-axis.js";
import { type TimeScale, timeScale } from "./time-scale.js";

export interface NamedCurve extends Curve {
	readonly name: string;
	readonly colour: string;
	/** The same probability for the original history, if it was edited. */
	readonly base?: Curve | undefined;
}

/** A large rise, with its number in the drawing. */
export type NumberedRise = Numbered<Surge>;

interface ProbabilityChartProps {
	readonly curves: readonly NamedCurve[];
	readonly rises: readonly NumberedRise[];
	readonly clock: Clock;
	readonly date: number;
	readonly domain: readonly [from: number, to: number];
	readonly description: string;
}

const [top, plotHeight, axisHeight] = [18, 220, 40];

/** The probability of codes over time: solid up to the date, dashed beyond it, dotted for the original history. */
export function ProbabilityChart({
	curves,
	rises,
	clock,
	date,
	domain,
	description,
}: ProbabilityChartProps) {
	const clip = useId();
	const [ref, width] = useWidth<HTMLDivElement>();
	const [pointer, setPointer] = useState<number | null>(null);
	const { left, right } = gutter(width);
	const scale = timeScale(domain, left, Math.max(10, width - left - right));
	const shown = curves.flatMap(({ probability, base }) => [
		...probability,
		...(base?.probability ?? []),
	]);
	const most = 1.12 * Math.max(1e-4, ...shown.filter(Number.isFinite));
	const ticks = roundNumbers(0, most, 6);
	const tickName = percentTicks(ticks);
	const bottom = top + plotHeight;
	const y = (probability: number) => bottom - (probability / most) * plotHeight;
	const dateX = scale.x(date);
	const times = curves[0]?.times ?? [];
	const nearest =
		pointer === null
			? undefined
			: times
					.filter(scale.inside)
					.reduce<number | undefined>(
						(best, time) =>
							best === undefined || Math.abs(time - pointer) < Math.abs(best - pointer)
								? time
								: best,
						undefined,
					);
	return (
		<div className="chart" ref={ref}>
			<svg
				data-drawing
				width={width}
				height={bottom + axisHeight}
				role="img"
				aria-label={description}
				onPointerMove={(event) =>
					setPointer(scale.time(event.clientX - event.currentTarget.getBoundingClientRect().left))
				}
				onPointerLeave={() => setPointer(null)}
			>
				<clipPath id={clip}>
					<rect x={left} y={0} width={scale.width} height={bottom + 2} />
				</clipPath>
				<rect
					className="seen-span"
					x={left}
					y={top}
					width={Math.max(0, Math.min(scale.width, dateX - left))}
					height={plotHeight}
				/>
				{ticks.map((probability) => (
					<g key={probability}>
						<line
							className="grid"
							x1={left}
							x2={left + scale.width}
							y1={y(probability)}
							y2={y(probability)}
						/>
						<text className="tick" x={left - 8} y={y(probability) + 4} textAnchor="end">
							{tickName(probability)}
						</text>
					</g>
				))}
				<TimeAxis clock={clock} scale={scale} top={top} bottom={bottom} />
				<g clipPath={`url(#${clip})`}>
					{scale.inside(date) && (
						<line className="date-line" x1={dateX} x2={dateX} y1={top - 6} y2={bottom} />
					)}
					{curves.map((curve) => (
						<CurveLines
							key={curve.token}
							curve={curve}
							x={scale.x}
							y={y}
							date={date}
							rises={rises.filter(({ curve: at }) => curves[at] === curve)}
						/>
					))}
					<Badges rises={rises} curves={curves} scale={scale} y={y} />
					{nearest !== undefined && (
						<g data-screen-only="">
							<line
								className="pointer"
								x1={scale.x(nearest)}
								x2={scale.x(nearest)}
								y1={top}
								y2={bottom}
							/>
							{curves.map(({ token, probability, colour }) => (
								<circle
									key={token}
									cx={scale.x(nearest)}
									cy={y(probability[times.indexOf(nearest)] as number)}
									r={4}
									fill={colour}
								/>
							))}
						</g>
					)}
				</g>
			</svg>
			{nearest !== undefined && (
				<div
					className="tip"
					aria-hidden="true"
					style={{ left: Math.min(scale.x(nearest) + 12, Math.max(4, width - 230)), top: top + 4 }}
				>
					<strong>{momentText(clock, nearest)}</strong>
					{curves.map(({ token, name, probability, base, colour }) => (
						<div key={token} style={{ color: colour }}>
							{name}: {percent(probability[times.indexOf(nearest)] as number)}
							{base && ` (was ${percent(base.probability[times.indexOf(nearest)] as number)})`}
						</div>
					))}
				</div>
			)}
		</div>
	);
}

interface CurveLinesProps {
	readonly curve: NamedCurve;
	readonly x: (time: number) => number;
	readonly y: (probability: number) => number;
	readonly date: number;
	readonly rises: readonly NumberedRise[];
}

function CurveLines({ curve, x, y, date, rises }: CurveLinesProps) {
	const { times, probability, colour, base } = curve;
	const path = (of: Curve, keep: (time: number) => boolean) =>
		of.times
			.flatMap((time, at) =>
				keep(time) ? [`${x(time).toFixed(1)} ${y(of.probability[at] as number).toFixed(1)}`] : [],
			)
			.map((point, at) => `${at === 0 ? "M" : "L"}${point}`)
			.join("");
	return (
		<g fill="none" stroke={colour} strokeLinejoin="round">
			{rises.map(({ number, from, to }) => (
				<path
					key={number}
					className="rise"
					d={path({ ...curve, times, probability }, (time) => time >= from && time <= to)}
				/>
			))}
			{base && <path className="curve-base" d={path(base, () => true)} />}
			<path className="curve" d={path(curve, (time) => time <= date)} />
			<path className="curve curve-ahead" d={path(curve, (time) => time >= date)} />
		</g>
	);
}

interface BadgesProps {
	readonly rises: readonly NumberedRise[];
	readonly curves: readonly NamedCurve[];
	readonly scale: TimeScale;
	readonly y: (probability: number) => number;
}

function Badges({ rises, curves, scale, y }: BadgesProps) {
	let last = Number.NEGATIVE_INFINITY;
	return rises.map(({ number, curve, to }) => {
		const own = curves[curve] as NamedCurve;
		const at = own.times.indexOf(to);
		const x = Math.max(scale.x(to), last + 18);
		last = x;
		const place = Math.max(10, y(own.probability[at] as number) - 14);
		return (
			<g key={number} className="badge">
				<circle cx={x} cy={place} r={8} stroke={own.colour} />
				<text x={x} y={place + 3.6} textAnchor="middle">
					{number}
				</text>
			</g>
		);
	});
}

export const riseText = (clock: Clock, { from, to, growth }: NumberedRise): string =>
	`${spanName(clock, from, to)}, +${(100 * growth).toFixed(growth >= 0.1 ? 0 : growth >= 0.01 ? 1 : 2)} points`;
