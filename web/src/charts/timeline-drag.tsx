import { useRef } from "react";
import { monthDays, yearDays } from "../../../src/base/time.js";
import { dateRange } from "../data/patient.js";
import { momentText } from "../parts/words.js";
import { usePatient } from "../state/patient-context.js";
import type { TimeScale } from "./time-scale.js";
import type { PlacedMark } from "./timeline-layout.js";

interface DateSliderProps {
	readonly scale: TimeScale;
	readonly date: number;
	readonly top: number;
	readonly height: number;
	/** While the date is dragged, the axis must not move. */
	readonly onHold: (held: boolean) => void;
}

const steps: Readonly<Record<string, number>> = {
	ArrowLeft: -monthDays,
	ArrowDown: -monthDays,
	ArrowRight: monthDays,
	ArrowUp: monthDays,
	PageDown: -yearDays,
	PageUp: yearDays,
};

const between = (value: number, least: number, most: number) =>
	Math.max(least, Math.min(most, value));

/** The date of prediction: dragged, or moved with the arrows (a month), Page keys (a year), Home and End. */
export function DateSlider(props: DateSliderProps) {
	const { scale, date, top, height, onHold } = props;
	const { patient, clock, dispatch } = usePatient();
	const dragging = useRef<number | null>(null);
	const [first, last] = dateRange(patient);
	const set = (time: number) => dispatch({ type: "date", date: between(time, first, last) });
	const away = !scale.inside(date);
	const x = between(scale.x(date), scale.left, scale.left + scale.width);
	const release = () => {
		if (dragging.current === null) return;
		dragging.current = null;
		onHold(false);
	};
	return (
		<div
			className={`date-slider${away ? " away" : ""}`}
			style={{ left: x, top, height }}
			role="slider"
			tabIndex={0}
			aria-label="Date of prediction"
			aria-orientation="horizontal"
			aria-valuemin={Math.round(first)}
			aria-valuemax={Math.round(last)}
			aria-valuenow={Math.round(date)}
			aria-valuetext={momentText(clock, date)}
			onKeyDown={(event) => {
				const step = steps[event.key];
				if (step !== undefined) set(date + (event.shiftKey ? Math.sign(step) : step));
				else if (event.key === "Home") set(first);
				else if (event.key === "End") set(last);
				else return;
				event.preventDefault();
			}}
			onPointerDown={(event) => {
				if (event.button !== 0 || !event.isPrimary) return;
				event.currentTarget.setPointerCapture(event.pointerId);
				dragging.current = event.clientX - x;
				onHold(true);
			}}
			onPointerMove={(event) => {
				if (dragging.current !== null)
					set(between(scale.time(event.clientX - dragging.current), ...scale.domain));
			}}
			onLostPointerCapture={release}
		>
			<span className="date-grip" aria-hidden="true" />
		</div>
	);
}

interface Drag {
	readonly id: string;
	readonly pointer: number;
	/** The pointer's x when the drag began, and its distance from the mark's centre. */
	readonly start: number;
	readonly apart: number;
	moved: boolean;
}

/** Smaller movements count as a click. */
const leastPixels = 3;

/**
 * Selects and drags the mark nearest to the pointer, even below others. The drawing captures the
 * pointer, because the mark's element may move within the document.
 */
export function useEventDrag(handlers: {
	readonly nearest: (event: React.PointerEvent<SVGSVGElement>) => PlacedMark | null;
	readonly onHover: (mark: PlacedMark | null) => void;
	readonly onChoose: (mark: PlacedMark) => void;
	/** `x` is in pixels of the drawing. */
	readonly onDrag: (id: string, x: number) => void;
	readonly onHold: (held: boolean) => void;
}): React.SVGProps<SVGSVGElement> {
	const drag = useRef<Drag | null>(null);
	return {
		onPointerDown: (event) => {
			if (event.button !== 0 || !event.isPrimary) return;
			const mark = handlers.nearest(event);
			if (!mark) return;
			handlers.onChoose(mark);
			if (mark.edit === "removed") return;
			event.currentTarget.setPointerCapture(event.pointerId);
			drag.current = {
				id: mark.id,
				pointer: event.pointerId,
				start: event.clientX,
				apart: event.clientX - mark.x,
				moved: false,
			};
			handlers.onHold(true);
		},
		onPointerMove: (event) => {
			const { current } = drag;
			if (!current) return handlers.onHover(handlers.nearest(event));
			if (current.pointer !== event.pointerId) return;
			current.moved ||= Math.abs(event.clientX - current.start) >= leastPixels;
			if (current.moved) handlers.onDrag(current.id, event.clientX - current.apart);
		},
		onPointerLeave: () => handlers.onHover(null),
		onLostPointerCapture: () => {
			if (!drag.current) return;
			drag.current = null;
			handlers.onHold(false);
		},
	};
}
