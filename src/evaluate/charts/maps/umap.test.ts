import { describe, expect, test } from "vitest";
import { random } from "../../../base/random.js";
import { placeOnMap } from "./neighbours.js";
import { umap } from "./umap.js";

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

	test("reports its progress", () => {
		const reported: number[][] = [];
		umap(groups(2, 5, 0.3).flat(), dim, {
			onRound: (done, rounds) => reported.push([done, rounds]),
		});
		expect(reported[0]).toEqual([1, 500]);
		expect(reported.at(-1)).toEqual([500, 500]);
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
	test("places a vector near those of similar direction", () => {
		const each = 20;
		const vectors = groups(3, each, 0.1);
		const map = umap(vectors.flat(), dim, { neighbours: 8 });
		const further = [0, 1, 2].map((group) => (vectors[group * each] as number[]).map((v) => 3 * v));
		const places = placeOnMap(map, vectors.flat(), further.flat(), dim);
		const all = Float64Array.from([...map, ...places]);
		for (const group of [0, 1, 2]) {
			const own = vectors.length + group;
			const nearestKnown = vectors
				.map((_, at) => ({ at, apart: distance(all, own, at) }))
				.sort((a, b) => a.apart - b.apart)
				.slice(0, 5);
			expect(nearestKnown.map(({ at }) => Math.floor(at / each))).toEqual(Array(5).fill(group));
		}
	});

	test("is the weighted mean, computed by hand", () => {
		const map = Float64Array.from([0, 0, 4, 8]);
		// At right angles to the one and along the other: distances √2 and 0, of mean 1/√2.
		const [x, y] = placeOnMap(map, [1, 0, 0, 1], [0, 5], 2);
		const far = Math.exp(-Math.SQRT2 / (Math.SQRT2 / 2));
		expect(x).toBeCloseTo(4 / (1 + far), 12);
		expect(y).toBeCloseTo(8 / (1 + far), 12);
	});
});
