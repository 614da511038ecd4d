/** The visible part of a drawing: a point at (x, y) is drawn at scale × (x, y) + (left, top). */
export interface PlaneZoom {
	readonly scale: number;
	readonly left: number;
	readonly top: number;
}

export const wholePlane: PlaneZoom = { scale: 1, left: 0, top: 0 };

type Pair = readonly [number, number];

const mostScale = 12;

/** Keeps the drawing over its frame. */
function within({ scale, left, top }: PlaneZoom, [width, height]: Pair): PlaneZoom {
	const kept = (offset: number, size: number) => Math.min(0, Math.max(offset, size * (1 - scale)));
	return { scale, left: kept(left, width), top: kept(top, height) };
}

/** Zooms by a factor; the point of the frame at `at` stays where it is. */
export function zoomedBy(now: PlaneZoom, factor: number, at: Pair, frame: Pair): PlaneZoom {
	const scale = Math.max(1, Math.min(mostScale, now.scale * factor));
	const grown = scale / now.scale;
	return within(
		{ scale, left: at[0] - grown * (at[0] - now.left), top: at[1] - grown * (at[1] - now.top) },
		frame,
	);
}

export const movedBy = (now: PlaneZoom, [dx, dy]: Pair, frame: Pair): PlaneZoom =>
	within({ ...now, left: now.left + dx, top: now.top + dy }, frame);

/** What a key does to the view; null if nothing. */
export function zoomedByKey(now: PlaneZoom, key: string, frame: Pair): PlaneZoom | null {
	const step = 60;
	const moves: Readonly<Record<string, Pair>> = {
		ArrowLeft: [step, 0],
		ArrowRight: [-step, 0],
		ArrowUp: [0, step],
		ArrowDown: [0, -step],
	};
	const centre: Pair = [frame[0] / 2, frame[1] / 2];
	const move = moves[key];
	if (move) return movedBy(now, move, frame);
	if (key === "+" || key === "=") return zoomedBy(now, 1.5, centre, frame);
	if (key === "-") return zoomedBy(now, 1 / 1.5, centre, frame);
	return key === "0" || key === "Home" ? wholePlane : null;
}
