import { useRef } from "react";
import type { Clock } from "../../../src/figures/clock.js";
import { momentText } from "../parts/words.js";
import type { TimeScale } from "./time-scale.js";

interface DateSliderProps {
	readonly clock: Clock;
	readonly scale: TimeScale;
	readonly date: number;
	readonly range: readonly [first: number, last: number];
	readonly top: number;
	readonly height: number;
	readonly onDate: (date: number) => void;
}

/** The date that is asked about: dragged, or moved with the arrows (a month), Page keys (a year), Home and End. */
export function DateSlider(props: DateSliderProps) {
	const { clock, scale, date, range, top, height, onDate } = props;
	const dragging = useRef<number | null>(null);
	const day = 1 / clock.unitDays;
	const set = (time: number) => onDate(Math.max(range[0], Math.min(range[1], time)));
	const steps: Readonly<Record<string, number>> = {
		ArrowLeft: -30.4375,
		ArrowDown: -30.4375,
		ArrowRight: 30.4375,
		ArrowUp: 30.4375,
		PageDown: -365.25,
		PageUp: 365.25,
	};
	const away = !scale.inside(date);
	const x = Math.max(scale.left, Math.min(scale.left + scale.width, scale.x(date)));
	return (
		<div
			className={`date-slider${away ? " away" : ""}`}
			style={{ left: x, top, height }}
			role="slider"
			tabIndex={0}
			aria-label="Date asked about"
			aria-orientation="horizontal"
			aria-valuemin={Math.round(range[0] / day)}
			aria-valuemax={Math.round(range[1] / day)}
			aria-valuenow={Math.round(date / day)}
			aria-valuetext={momentText(clock, date)}
			onKeyDown={(event) => {
				const step = steps[event.key];
				const [first, last] = range;
				if (step !== undefined) set(date + step * (event.shiftKey ? 1 / 30.4375 : 1) * day);
				else if (event.key === "Home") set(first);
				else if (event.key === "End") set(last);
				else return;
				event.preventDefault();
			}}
			onPointerDown={(event) => {
				event.currentTarget.setPointerCapture(event.pointerId);
				dragging.current = event.clientX - x;
			}}
			onPointerMove={(event) => {
				if (dragging.current !== null) set(scale.time(event.clientX - dragging.current));
			}}
			onPointerUp={() => {
				dragging.current = null;
			}}
			onPointerCancel={() => {
				dragging.current = null;
			}}
		>
			<span className="date-grip" aria-hidden="true" />
		</div>
	);
}
