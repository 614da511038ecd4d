import { expect, test } from "vitest";
import { random } from "../base/random.js";
import { binnedRows } from "./binned-rows.js";
import { denseRows, sparseRows } from "./glm.js";

test("gives each of few values a bin, and finds that of zero", () => {
	const { bins, rowStarts, entries } = binnedRows(
		sparseRows([
			[-2, 5, 0],
			[0, 7, 4],
			[-1, 6, 0],
			[3, 5, 0],
		]),
	);
	expect(bins.firsts).toEqual(Int32Array.of(0, 4, 7, 9));
	expect(Array.from(bins.uppers)).toEqual([
		...[-1.5, -0.5, 1.5, Number.POSITIVE_INFINITY],
		...[5.5, 6.5, Number.POSITIVE_INFINITY],
		...[2, Number.POSITIVE_INFINITY],
	]);
	expect(bins.zeros).toEqual(Int32Array.of(2, 4, 7));
	expect(rowStarts).toEqual(Int32Array.of(0, 2, 4, 6, 8));
	expect(entries).toEqual(Int32Array.of(0, 4, 6, 8, 1, 5, 3, 4));
});

test("leaves zeros out, whether they are stored or not", () => {
	const numbers = [1, 0, 2, 0, 0, 3];
	const stored = binnedRows(denseRows(numbers, 2));
	const leftOut = binnedRows(sparseRows([0, 2, 4].map((i) => [numbers[i]!, numbers[i + 1]!, 1])));
	expect(stored).toEqual(leftOut);
});

test("does not depend on the order of a row's values", () => {
	const ordered = sparseRows([
		[1, 2, 3],
		[3, 0, 1],
	]);
	const reversed = {
		...ordered,
		columns: Int32Array.of(2, 1, 0, 2, 0),
		values: Float64Array.of(3, 2, 1, 1, 3),
	};
	expect(binnedRows(reversed)).toEqual(binnedRows(ordered));
});

test("shares many values out evenly among 127 bins, with zero alone in its bin", () => {
	const draw = random(1);
	const values = Array.from({ length: 30_000 }, (_, row) => (row % 3 === 0 ? 0 : draw.normal()));
	const { bins, columnRows, columnEntries } = binnedRows(
		sparseRows(values.map((value) => [value])),
	);
	const count = bins.uppers.length;
	expect(count).toBeGreaterThan(123);
	expect(count).toBeLessThanOrEqual(129);
	const sizes = new Array<number>(count).fill(0);
	for (const [i, bin] of columnEntries.entries()) {
		const value = values[columnRows[i]!]!;
		expect(value).toBeLessThanOrEqual(bins.uppers[bin]!);
		if (bin > 0) expect(value).toBeGreaterThan(bins.uppers[bin - 1]!);
		sizes[bin]!++;
	}
	expect(sizes[bins.zeros[0]!]).toBe(0);
	expect(Math.max(...sizes)).toBeLessThanOrEqual(Math.ceil(20_000 / 127));
});

test("has fewer bins where they would hold few values", () => {
	const values = Array.from({ length: 800 }, (_, row) => [1 + row]);
	expect(binnedRows(sparseRows(values)).bins.uppers).toHaveLength(50);
	expect(binnedRows(sparseRows(values.slice(0, 40))).bins.uppers).toHaveLength(14);
});

test("puts other rows into the same bins, without columns that have none", () => {
	const { bins } = binnedRows(sparseRows([[1], [2], [4]]));
	const others = binnedRows(
		sparseRows([
			[-9, 1],
			[1.5, 1],
			[1.6, 1],
			[99, 1],
		]),
		bins,
	);
	expect(others.bins).toBe(bins);
	expect(others.entries).toEqual(Int32Array.of(0, 0, 1, 2));
});
