import { useEffect, useRef, useState } from "react";
import { movedBy, type PlaneZoom, wholePlane, zoomedBy, zoomedByKey } from "./plane-zoom.js";
import { wheelFactor } from "./time-scale.js";

/** A press that moves by more pixels is a drag, not a click. */
const clickReach = 4;

/** Zoom and pan of a drawing: buttons, Ctrl (⌘) and the wheel, dragging, keys. */
export function usePlaneZoom(
	ref: React.RefObject<HTMLElement | null>,
	frame: readonly [number, number],
) {
	const [zoom, setZoom] = useState<PlaneZoom>(wholePlane);
	const drag = useRef<{ x: number; y: number; moved: boolean } | null>(null);
	const zoomAt = useRef((_factor: number, _x: number, _y: number) => {});
	useEffect(() => {
		zoomAt.current = (factor, x, y) => setZoom((now) => zoomedBy(now, factor, [x, y], frame));
	});
	useEffect(() => {
		const element = ref.current;
		if (!element) return;
		const onWheel = (event: WheelEvent) => {
			if (!event.ctrlKey && !event.metaKey) return;
			event.preventDefault();
			const { left, top } = element.getBoundingClientRect();
			zoomAt.current(1 / wheelFactor(event), event.clientX - left, event.clientY - top);
		};
		// Not passive, or the browser would zoom the page as well.
		element.addEventListener("wheel", onWheel, { passive: false });
		return () => element.removeEventListener("wheel", onWheel);
	}, [ref]);
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
