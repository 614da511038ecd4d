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
		<fieldset className={overlaid ? "zoom overlaid" : "zoom"} aria-label="Zoom">
			{buttons.map(([sign, name, off, act]) => (
				// aria-disabled, not disabled: a disabled button would lose the focus.
				<button
					key={name}
					type="button"
					className="small"
					aria-label={name}
					aria-disabled={off}
					onClick={() => !off && act()}
				>
					{sign}
				</button>
			))}
		</fieldset>
	);
}
