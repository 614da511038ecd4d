import { ButtonRow } from "./button-row.js";
import { panned } from "./time-scale.js";

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
		<ButtonRow className={overlaid ? "zoom overlaid" : "zoom"} label="Zoom" buttons={buttons} />
	);
}
