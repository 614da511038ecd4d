import { useRef } from "react";
import type { PlacedMark } from "./timeline-layout.js";

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
	/** `x` is in pixels of the drawing; undefined if nothing can be moved. */
	readonly onDrag: ((id: string, x: number) => void) | undefined;
	readonly onHold: (held: boolean) => void;
}): React.SVGProps<SVGSVGElement> {
	const drag = useRef<Drag | null>(null);
	return {
		onPointerDown: (event) => {
			if (event.button !== 0 || !event.isPrimary) return;
			const mark = handlers.nearest(event);
			if (!mark) return;
			handlers.onChoose(mark);
			if (!handlers.onDrag || mark.edit === "removed") return;
			event.currentTarget.setPointerCapture(event.pointerId);
			drag.current = {
				...{ id: mark.id, pointer: event.pointerId },
				...{ start: event.clientX, apart: event.clientX - mark.x, moved: false },
			};
			handlers.onHold(true);
		},
		onPointerMove: (event) => {
			const { current } = drag;
			if (!current) return handlers.onHover(handlers.nearest(event));
			if (current.pointer !== event.pointerId) return;
			current.moved ||= Math.abs(event.clientX - current.start) >= leastPixels;
			if (current.moved) handlers.onDrag?.(current.id, event.clientX - current.apart);
		},
		onPointerLeave: () => handlers.onHover(null),
		onLostPointerCapture: () => {
			if (!drag.current) return;
			drag.current = null;
			handlers.onHold(false);
		},
	};
}
