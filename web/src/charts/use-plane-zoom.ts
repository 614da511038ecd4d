import { useRef, useState } from "react";
import { movedBy, type PlaneZoom, wholePlane, zoomedBy, zoomedByKey } from "./plane-zoom.js";
import { useWheelZoom } from "./use-wheel-zoom.js";

/** A press that moves by more pixels is a drag, not a click. */
const clickReach = 4;

/** Zoom and pan of a drawing: buttons, Ctrl (⌘) and the wheel, dragging, keys. */
export function usePlaneZoom(
	ref: React.RefObject<HTMLElement | null>,
	frame: readonly [number, number],
) {
	const [zoom, setZoom] = useState<PlaneZoom>(wholePlane);
	const drag = useRef<{ x: number; y: number; moved: boolean } | null>(null);
	useWheelZoom(ref, (factor, x, y) => setZoom((now) => zoomedBy(now, 1 / factor, [x, y], frame)));
	const centre = [frame[0] / 2, frame[1] / 2] as const;
	return {
		zoom,
		zoomBy: (factor: number) => setZoom((now) => zoomedBy(now, factor, centre, frame)),
		reset: () => setZoom(wholePlane),
		/** Whether the press that ends now was a drag. */
		wasDragged: () => drag.current?.moved ?? false,
		handlers: {
			onPointerDown: ({ clientX, clientY }: React.PointerEvent) => {
				drag.current = { x: clientX, y: clientY, moved: false };
			},
			onPointerMove: ({ clientX, clientY, buttons }: React.PointerEvent) => {
				const { current } = drag;
				if (!current || buttons === 0) return;
				const [dx, dy] = [clientX - current.x, clientY - current.y];
				if (!current.moved && Math.hypot(dx, dy) <= clickReach) return;
				drag.current = { x: clientX, y: clientY, moved: true };
				setZoom((now) => movedBy(now, [dx, dy], frame));
			},
			onKeyDown: (event: React.KeyboardEvent) => {
				if (event.ctrlKey || event.metaKey || event.altKey) return;
				const next = zoomedByKey(zoom, event.key, frame);
				if (!next) return;
				event.preventDefault();
				setZoom(next);
			},
		},
	};
}
