import fc from "fast-check";
import { expect, test } from "vitest";
import { panned, showing, timeScale, wheelFactor, wholeDomain, zoomed } from "./time-scale.js";
import {
	drawingOrder,
	type Mark,
	markRadius,
	nameHeight,
	nearestMark,
	timelineLayout,
} from "./timeline-layout.js";

test("a time scale is invertible", () => {
	const scale = timeScale([100, 300], 50, 400);
	expect([100, 200, 300].map(scale.x)).toEqual([50, 250, 450]);
	expect(scale.time(250)).toBe(200);
	expect([99, 100, 300, 301].map(scale.inside)).toEqual([false, true, true, false]);
});

test("the whole range covers the history and the horizon, with a margin", () => {
	expect(wholeDomain([0, 50], 60, 40)).toEqual([-2, 102]);
	expect(wholeDomain(Array(200_000).fill(50), 0, 40)).toEqual([-1, 51]);
	const [from, to] = wholeDomain([], 5, 0);
	expect(to).toBeGreaterThan(from);
});

test("zooming keeps its centre in place, and stays within the whole range", () => {
	expect(zoomed([0, 100], [0, 100], 0.5, 50)).toEqual([25, 75]);
	expect(zoomed([0, 100], [0, 100], 0.5, 0)).toEqual([0, 50]);
	expect(zoomed([0, 100], [25, 75], 4, 50)).toBe(null);
	expect(panned([0, 100], [25, 75], 0.5)).toEqual([50, 100]);
	expect(panned([0, 100], [25, 75], -9)).toEqual([0, 50]);
	expect(zoomed([0, 100], [20, 30], 0.1, 25, 8)).toEqual([21, 29]);
	// A centre outside the axis acts like its end.
	expect(zoomed([0, 100], [20, 60], 0.5, 5)).toEqual([20, 40]);
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

test("a zoomed axis moves to an event outside it, but not beyond its end", () => {
	expect(showing([0, 100], [10, 30], 60)).toEqual([50, 70]);
	expect(showing([0, 100], [10, 30], 98)).toEqual([80, 100]);
	expect(showing([0, 100], null, 98)).toBe(null);
});

test("the wheel zooms symmetrically, in lines as in pixels, by a bounded step", () => {
	expect(wheelFactor({ deltaY: 40, deltaMode: 0 })).toBeCloseTo(Math.exp(0.08), 12);
	expect(wheelFactor({ deltaY: 3, deltaMode: 1 })).toBeCloseTo(Math.exp(0.096), 12);
	expect(wheelFactor({ deltaY: 9999, deltaMode: 0 })).toBeCloseTo(Math.exp(0.2), 12);
	for (const deltaY of [1, 53, 240])
		expect(
			wheelFactor({ deltaY, deltaMode: 0 }) * wheelFactor({ deltaY: -deltaY, deltaMode: 0 }),
		).toBeCloseTo(1, 12);
});

const mark = (id: string, time: number, category: string | null): Mark => ({
	id,
	time,
	category,
	token: 5,
	name: "code 5",
	fate: "seen",
	edit: "none",
});

const layoutOptions = {
	narrow: false,
	opened: new Set<string>(),
};

test("an opened category has a row for each of its codes", () => {
	const marks = [
		mark("a", 0, "x"),
		mark("b", 10, "y"),
		mark("c", 11, "y"),
		{ ...mark("d", 40, "y"), name: "code 6" },
	];
	const { rows, height } = timelineLayout(marks, (time) => time, {
		...layoutOptions,
		opened: new Set(["y"]),
	});
	expect(rows.map(({ kind, name, marks }) => [kind, name, marks.map(({ id }) => id)])).toEqual([
		["opened", "y", []],
		["code", "code 5", ["b", "c"]],
		["code", "code 6", ["d"]],
		["category", "x", ["a"]],
	]);
	expect(height).toBe(rows.reduce((sum, row) => sum + row.height, 0));
	// The name of a code is above its marks, the name of a category to their left.
	const above = rows.map(({ top, marks: [first] }) => first && first.y - top);
	expect(above[1]).toBe((above[3] as number) + nameHeight);
});

test("puts the largest category first, and marks do not overlap", () => {
	const marks = [
		mark("a", 0, "x"),
		mark("b", 10, "y"),
		mark("c", 11, "y"),
		mark("d", 40, "y"),
		mark("e", 5, null),
	];
	const { rows, height } = timelineLayout(marks, (time) => time, layoutOptions);
	expect(rows.map(({ name }) => name)).toEqual(["y", "no category", "x"]);
	const [b, c, d] = rows[0]!.marks;
	expect(c!.y).toBeGreaterThan(b!.y + 2 * markRadius);
	expect(d!.y).toBe(b!.y);
	expect(height).toBe(rows.reduce((sum, row) => sum + row.height, 0));
});

test("draws events in the same order wherever they are dragged", () => {
	const placed = ["e10", "n1", "e2"].map((id, at) => ({ ...mark(id, at, "x"), x: at, y: 0 }));
	expect(drawingOrder(placed).map(({ id }) => id)).toEqual(["e2", "e10", "n1"]);
});

test("selects the nearest event within 12 pixels", () => {
	const placed = [10, 18, 60].map((x, at) => ({ ...mark(`e${at}`, at, "x"), x, y: 5 }));
	expect(nearestMark(placed, 13, 5)?.id).toBe("e0");
	expect(nearestMark(placed, 15, 5)?.id).toBe("e1");
	expect(nearestMark(placed, 60, 17)?.id).toBe("e2");
	expect(nearestMark(placed, 60, 17.1)).toBe(null);
});
