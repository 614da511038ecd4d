export interface Point {
	readonly x: number;
	readonly y: number;
}

export interface Box {
	readonly left: number;
	readonly top: number;
	readonly right: number;
	readonly bottom: number;
}

/** A text to place near a point; all in pixels. */
export interface Label {
	readonly at: Point;
	readonly width: number;
	readonly height: number;
	/** Distance to keep from the point. */
	readonly apart: number;
	/** Whether the text may cover the point. */
	readonly over?: boolean;
}

export interface Placed {
	/** Centre of the text. */
	readonly x: number;
	readonly y: number;
	readonly box: Box;
	/** Pixels from the point to the text; 0 if the text covers it. */
	readonly distance: number;
}

export interface Surroundings {
	readonly bounds: Box;
	/** Boxes that a text must not touch. */
	readonly taken?: readonly Box[];
	/** Points that a text should not cover, if possible. */
	readonly points?: readonly Point[];
	readonly radius?: number;
	/** Allowed distances from the point, beyond `apart`. */
	readonly reach?: readonly number[];
	/** Maximum number of points that a text may cover. */
	readonly mostCovered?: number;
}

const directions = Array.from({ length: 16 }, (_, at) => (at * Math.PI) / 8);
/** Cost of a covered point, in pixels of distance. */
const coveredCost = 9;

export const overlap = (a: Box, b: Box) =>
	a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

/** Places labels in order, each at the position of lowest cost; labels without a free position are left out. */
export function placeLabels(
	labels: readonly Label[],
	{
		bounds,
		taken = [],
		points = [],
		radius = 0,
		reach = [0, 6, 14, 24],
		mostCovered = Number.POSITIVE_INFINITY,
	}: Surroundings,
): (Placed | undefined)[] {
	const boxes = [...taken];
	return labels.map((label) => {
		let best: Placed | undefined;
		let least = Number.POSITIVE_INFINITY;
		for (const { centre, distance } of places(label, reach)) {
			const box = boxAround(centre, label);
			if (!within(box, bounds) || boxes.some((other) => overlap(box, other))) continue;
			const covered = points.filter((point) => holds(box, point, radius)).length;
			const cost = coveredCost * covered + distance;
			if (covered > mostCovered || cost >= least) continue;
			best = { ...centre, box, distance };
			least = cost;
		}
		if (best) boxes.push(best.box);
		return best;
	});
}

function places(label: Label, reach: readonly number[]) {
	const around = reach.flatMap((distance) =>
		directions.map((angle) => {
			const away = label.apart + distance;
			const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
			// The nearest corner or edge touches the circle, not the centre of the text.
			return {
				centre: {
					x: label.at.x + away * cos + (label.width / 2) * clamp(cos * 2),
					y: label.at.y - away * sin - (label.height / 2) * clamp(sin * 2),
				},
				distance: away,
			};
		}),
	);
	return label.over ? [{ centre: label.at, distance: 0 }, ...around] : around;
}

const clamp = (value: number) => Math.max(-1, Math.min(1, value));

const boxAround = ({ x, y }: Point, { width, height }: Label): Box => ({
	left: x - width / 2,
	right: x + width / 2,
	top: y - height / 2,
	bottom: y + height / 2,
});

const within = (box: Box, bounds: Box) =>
	box.left >= bounds.left &&
	box.right <= bounds.right &&
	box.top >= bounds.top &&
	box.bottom <= bounds.bottom;

const holds = (box: Box, { x, y }: Point, radius: number) =>
	x > box.left - radius &&
	x < box.right + radius &&
	y > box.top - radius &&
	y < box.bottom + radius;
