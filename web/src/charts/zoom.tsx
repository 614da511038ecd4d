import { useEffect, useRef } from "react";
import { Button } from "../parts/button.js";
import { panned, wheelFactor } from "./time-scale.js";

interface ZoomButtonsProps {
	readonly whole: readonly [from: number, to: number];
	readonly zoom: readonly [from: number, to: number] | null;
	/** In the corner above the row names, instead of above the drawing. */
	readonly overlaid: boolean;
	readonly onZoomBy: (factor: number) => void;
	readonly onZoom: (zoom: readonly [number, number] | null) => void;
}

export function ZoomButtons({ whole, zoom, overlaid, onZoomBy, onZoom }: ZoomButtonsProps) {
	const pan = (part: number) => zoom && onZoom(panned(whole, zoom, part));
	const buttons = [
		["+", "Zoom in", false, () => onZoomBy(0.6)],
		["−", "Zoom out", !zoom, () => onZoomBy(1 / 0.6)],
		["←", "Earlier", !zoom, () => pan(-0.4)],
		["→", "Later", !zoom, () => pan(0.4)],
		["All", "Show all", !zoom, () => onZoom(null)],
	] as const;
	return (
		<fieldset className={overlaid ? "zoom overlaid" : "zoom"} aria-label="Zoom">
			{buttons.map(([sign, name, isOff, act]) => (
				// aria-disabled, not disabled: a disabled button would lose the focus.
				<Button
					key={name}
					className="small"
					aria-label={name}
					aria-disabled={isOff}
					onClick={() => !isOff && act()}
				>
					{sign}
				</Button>
			))}
		</fieldset>
	);
}

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
