import { describe, expect, test } from "vitest";
import { random } from "../../../base/random.js";
import {
	directionsOf,
	neighbourAgreement,
	placeOnMap,
	principalPlane,
	removeCommonDirection,
	umap,
} from "./umap.js";

const dim = 8;

/** Points round some directions, group after group. */
function groups(count: number, each: number, spread: number) {
	const draw = random(4);
	const centres = Array.from({ length: count }, () =>
		Array.from({ length: dim }, () => draw.normal()),
	);
	return centres.flatMap((centre) =>
		Array.from({ length: each }, () => centre.map((value) => value + spread * draw.normal())),
	);
}

const distance = (map: Float64Array, a: number, b: number) =>
	Math.hypot(
		(map[2 * a] as number) - (map[2 * b] as number),
		(map[2 * a + 1] as number) - (map[2 * b + 1] as number),
	);

describe("umap", () => {
	test("keeps groups apart", () => {
		const each = 30;
		const map = umap(groups(4, each, 0.1).flat(), dim, { seed: 2, neighbours: 10 });
		expect(map).toHaveLength(2 * 4 * each);
		let [widest, narrowest] = [0, Number.POSITIVE_INFINITY];
		for (let a = 0; a < 4 * each; a++)
			for (let b = 0; b < a; b++) {
				const apart = distance(map, a, b);
				if (Math.floor(a / each) === Math.floor(b / each)) widest = Math.max(widest, apart);
				else narrowest = Math.min(narrowest, apart);
			}
		expect(narrowest).toBeGreaterThan(0.8 * widest);
	});

	test("repeats to the digit with its seed, and differs with another", () => {
		const vectors = groups(3, 15, 0.3).flat();
		const map = umap(vectors, dim, { seed: 7 });
		expect(umap(vectors, dim, { seed: 7 })).toEqual(map);
		expect(umap(vectors, dim, { seed: 8 })).not.toEqual(map);
		expect(map.every(Number.isFinite)).toBe(true);
	});

	test("depends on directions alone", () => {
		const vectors = groups(3, 10, 0.3);
		const longer = vectors.map((vector, at) => vector.map((value) => value * 2 ** (at % 5)));
		expect(umap(longer.flat(), dim)).toEqual(umap(vectors.flat(), dim));
	});

	test.each([0, 1, 2, 4, 5, 6, 17])("places each of %d vectors", (count) => {
		const map = umap(groups(1, count, 0.5).flat(), dim);
		expect(map).toHaveLength(2 * count);
		expect(map.every(Number.isFinite)).toBe(true);
	});

	test("accepts equal and zero vectors", () => {
		const map = umap(new Float32Array(20 * dim).fill(1, 0, 10 * dim), dim);
		expect(map.every(Number.isFinite)).toBe(true);
	});

	test("rejects a list that is not a multiple of the dimension", () => {
		expect(() => umap([1, 2, 3], 2)).toThrow("3 numbers are no vectors of 2");
		expect(() => umap([1, 2, Number.NaN, 3], 2)).toThrow("vector 1 holds a number");
	});
});

describe("placeOnMap", () => {
	test("is the weighted mean, computed by hand", () => {
		const map = Float64Array.from([0, 0, 4, 8]);
		// At right angles to the one and along the other: distances √2 and 0, of mean 1/√2.
		const [x, y] = placeOnMap(map, [1, 0, 0, 1], [0, 5], 2);
		const far = Math.exp(-Math.SQRT2 / (Math.SQRT2 / 2));
		expect(x).toBeCloseTo(4 / (1 + far), 12);
		expect(y).toBeCloseTo(8 / (1 + far), 12);
	});
});

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

/** Directions at these degrees. */
const at = (...degrees: number[]) =>
	degrees.flatMap((degree) => [
		Math.cos((degree * Math.PI) / 180),
		Math.sin((degree * Math.PI) / 180),
	]);

test("compares the share of neighbours of the same kind with chance", () => {
	const vectors = at(0, 1, 2, 90, 91, 93);
	const kinds = ["a", "a", "a", "b", "b", "b"];
	expect(neighbourAgreement(vectors, 2, kinds, 2)).toEqual({
		neighbours: 2,
		share: 1,
		byChance: 0.4,
	});
	const mixed = ["a", "b", "a", "b", "a", "b"];
	expect(neighbourAgreement(vectors, 2, mixed, 2)?.share).toBeCloseTo(4 / 12, 12);
});

test("ignores vectors without a kind, and is undefined for too few or for one kind", () => {
	const vectors = at(0, 45, 1, 90, 91);
	const kinds = ["a", null, "a", "b", "b"];
	expect(neighbourAgreement(vectors, 2, kinds, 1)).toMatchObject({ share: 1, byChance: 4 / 12 });
	expect(neighbourAgreement(vectors, 2, kinds, 4)).toBeUndefined();
	expect(neighbourAgreement(vectors, 2, ["a", null, "a", "a", "a"], 1)).toBeUndefined();
});
