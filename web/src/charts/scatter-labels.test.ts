import fc from "fast-check";
import { expect, test } from "vitest";
import { overlap } from "../../../src/evaluate/charts/placement.js";
import { scatterLabels } from "./scatter-labels.js";

const frame = [640, 420] as const;

test("labels never collide, cover no point and stay inside", () => {
	const point = fc.record({
		x: fc.double({ min: -50, max: 700, noNaN: true }),
		y: fc.double({ min: -50, max: 500, noNaN: true }),
		name: fc.constantFrom("Gout", "Essential hypertension", "Disorders of lipoid metabolism"),
		rank: fc.nat(1000),
	});
	fc.assert(
		fc.property(fc.array(point, { maxLength: 60 }), (given) => {
			const points = given.map((one, at) => ({ ...one, id: `${at}` }));
			const boxes = scatterLabels(points, frame).map(({ placed }) => placed.box);
			for (const [at, box] of boxes.entries()) {
				expect(boxes.slice(at + 1).some((other) => overlap(box, other))).toBe(false);
				expect(box.left >= 0 && box.right <= frame[0]).toBe(true);
				expect(box.top >= 0 && box.bottom <= frame[1]).toBe(true);
				for (const { x, y } of points)
					expect(x > box.left && x < box.right && y > box.top && y < box.bottom).toBe(false);
			}
		}),
		{ numRuns: 30 },
	);
});

test("where two do not fit, the higher rank is named", () => {
	const near = [
		{ id: "a", name: "Rare disease with a long name", x: 10, y: 12, rank: 1 },
		{ id: "b", name: "Common disease with a long name", x: 12, y: 13, rank: 9 },
	];
	expect(scatterLabels(near, [205, 26]).map(({ id }) => id)).toEqual(["b"]);
});
