import { expect, test } from "vitest";
import { random } from "../../../base/random.js";
import { directionsOf } from "./neighbours.js";
import { principalPlane, removeCommonDirection } from "./umap.js";

test("the plane holds the first two principal components, in order", () => {
	// Far along x, less along z, nothing along y; all of nearly one length.
	const vectors = [3, 4, 0, -3, 4, 0, 0, 4, 1.5, 0, 4, -1.5].map((value) => value * 2);
	const plane = principalPlane(directionsOf(vectors, 3), random(1));
	expect(Math.abs(plane[0]!)).toBeCloseTo(0.6, 6);
	expect(plane[2]!).toBeCloseTo(-plane[0]!, 6);
	expect(plane[1]!).toBeCloseTo(0, 6);
	expect(Math.abs(plane[5]!)).toBeCloseTo(1.5 / Math.hypot(4, 1.5), 6);
	expect(plane[7]!).toBeCloseTo(-plane[5]!, 6);
});

test("removes the mean and the first principal component", () => {
	const vectors = [9 + 10, 5, 1, 9 - 10, 5, 1, 9, 5, 1 + 2, 9, 5, 1 - 2];
	const rest = removeCommonDirection(vectors, 3, random(1));
	const expected = [0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, -2];
	for (const [at, value] of rest.entries()) expect(value).toBeCloseTo(expected[at]!, 6);
});

test("equal vectors are all at one point", () => {
	expect(removeCommonDirection([1, 2, 1, 2], 2, random(1))).toEqual(new Float64Array(4));
	expect(principalPlane(directionsOf([1, 2, 1, 2], 2), random(1))).toEqual(new Float64Array(4));
});
