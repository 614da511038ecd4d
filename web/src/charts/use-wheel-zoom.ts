import { useEffect, useRef } from "react";
import { wheelFactor } from "./time-scale.js";

/**
 * Zooms with Ctrl or ⌘ and the wheel, or a pinch on a touchpad. The listener is not passive, or the
 * browser would zoom the page as well. The wheel alone scrolls as usual.
 */
export function useWheelZoom(
	ref: React.RefObject<HTMLElement | null>,
	zoomAt: (factor: number, x: number, y: number) => void,
): void {
	const latest = useRef(zoomAt);
	useEffect(() => {
		latest.current = zoomAt;
	});
	useEffect(() => {
		const element = ref.current;
		if (!element) return;
		const onWheel = (event: WheelEvent) => {
			if (!event.ctrlKey && !event.metaKey) return;
			event.preventDefault();
			const { left, top } = element.getBoundingClientRect();
			latest.current(wheelFactor(event), event.clientX - left, event.clientY - top);
		};
		element.addEventListener("wheel", onWheel, { passive: false });
		return () => element.removeEventListener("wheel", onWheel);
	}, [ref]);
}
