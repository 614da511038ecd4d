import { type Placed, placeLabels } from "../../../src/evaluate/charts/placement.js";
import { fitted, textWidth } from "../../../src/evaluate/charts/text.js";

interface LabelledPoint {
	readonly id: string;
	readonly name: string;
	readonly x: number;
	readonly y: number;
	/** Higher ones are placed first. */
	readonly rank: number;
}

interface PlacedLabel {
	readonly id: string;
	readonly text: string;
	readonly placed: Placed;
}

const [mostLabels, mostWidth, size] = [70, 150, 12];
/** Fonts that replace Arial are up to a sixth wider. */
const slack = 1.16;

/** Names beside their points, as many as fit without covering each other or other points. */
export function scatterLabels(
	points: readonly LabelledPoint[],
	[width, height]: readonly [number, number],
): PlacedLabel[] {
	const visible = points.filter(({ x, y }) => x > 0 && x < width && y > 0 && y < height);
	const named = visible.toSorted((a, b) => b.rank - a.rank).slice(0, mostLabels);
	const texts = named.map(({ name }) => fitted(name, mostWidth, { size }));
	const places = placeLabels(
		named.map(({ x, y }, at) => ({
			...{ at: { x, y }, height: size + 3, apart: 6 },
			width: slack * textWidth(texts[at] as string, { size }) + 4,
		})),
		{
			bounds: { left: 0, top: 0, right: width, bottom: height },
			...{ points: visible, radius: 3, reach: [0, 5], mostCovered: 0 },
		},
	);
	return named.flatMap(({ id }, at) => {
		const placed = places[at];
		return placed ? [{ id, text: texts[at] as string, placed }] : [];
	});
}
