import type { Clock } from "../../../src/evaluate/charts/clock.js";
import { type TimeScale, ticksOf } from "./time-scale.js";

interface TimeAxisProps {
	readonly clock: Clock;
	readonly scale: TimeScale;
	/** The vertical extent of the plot. */
	readonly top: number;
	readonly bottom: number;
}

/** Grid lines behind a plot, with their labels below it. */
export function TimeAxis({ clock, scale, top, bottom }: TimeAxisProps) {
	const { ticks, format, label } = ticksOf(clock, scale);
	return (
		<g>
			{ticks.map((time) => (
				<g key={time}>
					<line className="grid" x1={scale.x(time)} x2={scale.x(time)} y1={top} y2={bottom} />
					<text className="tick" x={scale.x(time)} y={bottom + 16} textAnchor="middle">
						{format(time)}
					</text>
				</g>
			))}
			<text className="tick" x={scale.left + scale.width} y={bottom + 32} textAnchor="end">
				{label}
			</text>
		</g>
	);
}
