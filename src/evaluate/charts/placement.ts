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
interface Label {
	readonly at: Point;
	readonly width: number;
	readonly height: number;
	/** Distance to keep from the point. */
	readonly apart: number;
	/** Whether the text may cover the point. */
	readonly over?: boolean;
}

interface Surroundings {
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

const directions = Array.from({ length: 16 }, (_, index) => (index * Math.PI) / 8);
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
) {
	const boxes = [...taken];
	return labels.map((label) => {
		let best: (ReturnType<typeof candidates>[number] & { readonly box: Box }) | undefined;
		let least = Number.POSITIVE_INFINITY;
		for (const candidate of candidates(label, reach)) {
			const box = boxAround(candidate, label);
			if (!within(box, bounds) || boxes.some((other) => overlap(box, other))) continue;
			const covered = points.filter((point) => holds(box, point, radius)).length;
			const cost = coveredCost * covered + candidate.distance;
			if (covered > mostCovered || cost >= least) continue;
			best = { ...candidate, box };
			least = cost;
		}
		if (best) boxes.push(best.box);
		return best;
	});
}

/** Centres of the text, and their distance: pixels from the point to the text, 0 if the text covers it. */
function candidates(label: Label, reach: readonly number[]) {
	const around = reach.flatMap((distance) =>
		directions.map((angle) => {
			const away = label.apart + distance;
			const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
			// The nearest corner or edge touches the circle, not the centre of the text.
			return {
				x: label.at.x + away * cos + (label.width / 2) * clamp(cos * 2),
				y: label.at.y - away * sin - (label.height / 2) * clamp(sin * 2),
				distance: away,
			};
		}),
	);
	return label.over ? [{ ...label.at, distance: 0 }, ...around] : around;
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

/**
 * Moves centres apart, as little as needed for items of these sizes not to overlap, and keeps them between `low`
 * and `high` if they fit.
 */
export function avoidOverlap(
	centres: readonly number[],
	sizes: readonly number[],
	[low, high]: readonly [low: number, high: number],
): number[] {
	interface Block {
		readonly members: readonly number[];
		/** Mean of the starts that its members prefer. */
		readonly start: number;
		readonly size: number;
	}
	const total = sizes.reduce((sum, size) => sum + size, 0);
	const inside = (start: number, size: number) =>
		total > high - low ? start : Math.min(Math.max(start, low), high - size);
	const order = [...centres.keys()].sort((a, b) => centres[a] - centres[b] || a - b);
	const blocks: Block[] = [];
	for (const index of order) {
		const size = sizes[index];
		let block: Block = {
			members: [index],
			start: inside(centres[index] - size / 2, size),
			size,
		};
		for (;;) {
			const before = blocks.at(-1);
			if (!before || before.start + before.size <= block.start) break;
			blocks.pop();
			const [n, m] = [before.members.length, block.members.length];
			const joined = before.size + block.size;
			block = {
				members: [...before.members, ...block.members],
				start: inside((n * before.start + m * (block.start - before.size)) / (n + m), joined),
				size: joined,
			};
		}
		blocks.push(block);
	}
	const placed = new Array<number>(centres.length).fill(0);
	for (const { members, start } of blocks) {
		let y = start;
		for (const index of members) {
			const size = sizes[index];
			placed[index] = y + size / 2;
			y += size;
		}
	}
	return placed;
}

/** Assigns marks, in order of x, to lanes in which they do not overlap; beyond `most`, to the one that is free first. */
export function lanesOf(
	marks: readonly { readonly x: number; readonly r: number }[],
	most: number,
): number[] {
	const ends: number[] = [];
	return marks.map(({ x, r }) => {
		const free = ends.findIndex((end) => end <= x - r);
		const next = ends.length < most ? ends.length : ends.indexOf(Math.min(...ends));
		const lane = free >= 0 ? free : next;
		ends[lane] = x + r + 1;
		return lane;
	});
}
