import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { avoidOverlap, overlap, placeLabels } from "./placement.js";

const bounds = { left: 0, top: 0, right: 300, bottom: 200 };
const label = (x: number, y: number) => ({ at: { x, y }, width: 60, height: 14, apart: 4 });

describe("labels", () => {
	test("never overlap, and stay inside", () => {
		const place = fc.record({
			x: fc.double({ min: 0, max: 300, noNaN: true }),
			y: fc.double({ min: 0, max: 200, noNaN: true }),
		});
		fc.assert(
			fc.property(fc.array(place, { maxLength: 40 }), (points) => {
				const placed = placeLabels(
					points.map(({ x, y }) => label(x, y)),
					{ bounds, points },
				).filter((place) => place !== undefined);
				for (const [at, { box }] of placed.entries()) {
					expect(box.left).toBeGreaterThanOrEqual(0);
					expect(box.bottom).toBeLessThanOrEqual(200);
					for (const other of placed.slice(at + 1)) expect(overlap(box, other.box)).toBe(false);
				}
			}),
		);
	});

	test("cover as little as possible, and are left out where no position is free", () => {
		const right = Array.from({ length: 400 }, (_, at) => ({
			x: 154 + 6 * (at % 20),
			y: 5 + 10 * Math.floor(at / 20),
		}));
		const [place] = placeLabels([label(150, 100)], { bounds, points: right, mostCovered: 0 });
		expect(place?.box.left).toBeLessThan(150);
		expect(placeLabels([label(150, 100)], { bounds, taken: [bounds] })).toEqual([undefined]);
	});

	test("may cover their point if allowed", () => {
		const [place] = placeLabels([{ ...label(150, 100), over: true }], { bounds });
		expect(place).toMatchObject({ x: 150, y: 100, distance: 0 });
	});
});

describe("avoidOverlap", () => {
	test("keeps items that have room and moves the others apart evenly", () => {
		expect(avoidOverlap([10, 50], [10, 10], [0, 100])).toEqual([10, 50]);
		expect(avoidOverlap([50, 50, 50], [10, 10, 10], [0, 100])).toEqual([40, 50, 60]);
		expect(avoidOverlap([99, 2], [10, 10], [0, 100])).toEqual([95, 5]);
		expect(avoidOverlap([], [], [0, 1])).toEqual([]);
	});

	test("keeps order, distance and bounds", () => {
		const centres = fc.array(fc.double({ min: -20, max: 220, noNaN: true }), { maxLength: 12 });
		fc.assert(
			fc.property(centres, (wanted) => {
				const placed = avoidOverlap(
					wanted,
					wanted.map(() => 14),
					[0, 200],
				);
				const sorted = [...placed].sort((a, b) => a - b);
				for (const [at, y] of sorted.entries()) {
					expect(y).toBeGreaterThanOrEqual(7 - 1e-9);
					expect(y).toBeLessThanOrEqual(193 + 1e-9);
					if (at > 0) expect(y - (sorted[at - 1] as number)).toBeGreaterThanOrEqual(14 - 1e-9);
				}
				for (const [a, first] of wanted.entries())
					for (const [b, second] of wanted.entries())
						if (first < second) expect(placed[a]).toBeLessThan(placed[b] as number);
			}),
		);
	});
});
