import fc from "fast-check";
import { expect, test } from "vitest";
import { panned, timeScale, wholeDomain, zoomed } from "./time-scale.js";
import { type Mark, markRadius, timelineLayout } from "./timeline-layout.js";

test("a scale goes there and back", () => {
	const scale = timeScale([100, 300], 50, 400);
	expect([100, 200, 300].map(scale.x)).toEqual([50, 250, 450]);
	expect(scale.time(250)).toBe(200);
	expect([99, 100, 300, 301].map(scale.inside)).toEqual([false, true, true, false]);
});

test("all of a history has room around it, and beyond the date", () => {
	expect(wholeDomain([0, 50], 60, 40)).toEqual([-2, 102]);
	const [from, to] = wholeDomain([], 5, 0);
	expect(to).toBeGreaterThan(from);
});

test("zooming keeps what it is around in its place, and stays inside", () => {
	expect(zoomed([0, 100], [0, 100], 0.5, 50)).toEqual([25, 75]);
	expect(zoomed([0, 100], [0, 100], 0.5, 0)).toEqual([0, 50]);
	expect(zoomed([0, 100], [25, 75], 4, 50)).toBe(null);
	expect(panned([0, 100], [25, 75], 0.5)).toEqual([50, 100]);
	expect(panned([0, 100], [25, 75], -9)).toEqual([0, 50]);
	fc.assert(
		fc.property(
			fc.double({ min: 0.1, max: 3, noNaN: true }),
			fc.double({ min: 0, max: 100, noNaN: true }),
			(factor, around) => {
				const part = zoomed([0, 100], [20, 80], factor, around);
				if (part === null) return;
				expect(part[0]).toBeGreaterThanOrEqual(0);
				expect(part[1]).toBeLessThanOrEqual(100 + 1e-9);
			},
		),
	);
});

const mark = (id: string, time: number, category: string | null): Mark => ({
	...{ id, time, category, token: 5, fate: "seen", edit: "none" },
});

test("the fullest category comes first, and marks do not cover each other", () => {
	const marks = [
		mark("a", 0, "x"),
		mark("b", 10, "y"),
		mark("c", 11, "y"),
		mark("d", 40, "y"),
		mark("e", 5, null),
	];
	const { rows, height } = timelineLayout(marks, (time) => time, 0);
	expect(rows.map(({ name }) => name)).toEqual(["y", "no category", "x"]);
	const [b, c, d] = rows[0]!.marks;
	expect(c!.y).toBeGreaterThan(b!.y + 2 * markRadius);
	expect(d!.y).toBe(b!.y);
	expect(height).toBe(rows.reduce((sum, row) => sum + row.height, 0));
});
