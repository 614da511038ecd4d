import { useRef } from "react";
import type { PlacedMark } from "./timeline-layout.js";

interface Drag {
	readonly id: string;
	readonly pointer: number;
	/** Where the pointer took hold, and how far that was from the mark's centre. */
	readonly start: number;
	readonly apart: number;
	moved: boolean;
}

/** A shaky click is no move. */
const leastPixels = 3;

/**
 * Pointers on the drawing: the mark that is nearest is meant, though others lie over it. The
 * drawing holds the pointer, not the mark, which may go elsewhere in the document on its way.
 */
export function useEventDrag(told: {
	readonly nearest: (event: React.PointerEvent<SVGSVGElement>) => PlacedMark | null;
	readonly onHover: (mark: PlacedMark | null) => void;
	readonly onChoose: (mark: PlacedMark) => void;
	/** Along the drawing's own pixels; undefined where nothing can be moved. */
	readonly onDrag: ((id: string, x: number) => void) | undefined;
	readonly onHold: (held: boolean) => void;
}): React.SVGProps<SVGSVGElement> {
	const drag = useRef<Drag | null>(null);
	return {
		onPointerDown: (event) => {
			if (event.button !== 0 || !event.isPrimary) return;
			const mark = told.nearest(event);
			if (!mark) return;
			told.onChoose(mark);
			if (!told.onDrag || mark.edit === "removed") return;
			event.currentTarget.setPointerCapture(event.pointerId);
			drag.current = {
				...{ id: mark.id, pointer: event.pointerId },
				...{ start: event.clientX, apart: event.clientX - mark.x, moved: false },
			};
			told.onHold(true);
		},
		onPointerMove: (event) => {
			const { current } = drag;
			if (!current) return told.onHover(told.nearest(event));
			if (current.pointer !== event.pointerId) return;
			current.moved ||= Math.abs(event.clientX - current.start) >= leastPixels;
			if (current.moved) told.onDrag?.(current.id, event.clientX - current.apart);
		},
		onPointerLeave: () => told.onHover(null),
		onLostPointerCapture: () => {
			if (!drag.current) return;
			drag.current = null;
			told.onHold(false);
		},
	};
}
