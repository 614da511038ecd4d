import { expect, test } from "vitest";
import { nodeRuntime } from "../../runtime/node.js";
import { dropout, filled, gradients, input, mul, sum } from "../index.js";

const [rows, columns] = [512, 61];
const seed = input("seed", [], "int32");
const runtime = nodeRuntime({ threads: 1 });

/** Which elements are kept, for two sites and several seeds. */
async function masks(rate: number, seeds: readonly number[]): Promise<boolean[][]> {
	const ones = filled(1, [rows, columns]);
	const sites = [0, 1].map((site) => dropout(ones, rate, seed, site));
	const program = await runtime.compile({ outputs: { first: sites[0], second: sites[1] } });
	const drawn: boolean[][] = [];
	for (const n of seeds) {
		const { first, second } = await program.run({ seed: Int32Array.of(n) });
		for (const values of [first, second]) drawn.push(Array.from(values, (x) => x > 0));
	}
	await program.dispose();
	return drawn;
}

/** The correlation of pairs of bits, in standard deviations of what independent bits would show. */
function correlation(pairs: readonly (readonly [boolean, boolean])[], kept: number): number {
	const total = pairs.reduce((t, [a, b]) => t + (Number(a) - kept) * (Number(b) - kept), 0);
	return total / (kept * (1 - kept) * Math.sqrt(pairs.length));
}

test.each([0.1, 0.5])("at rate %f masks are independent Bernoulli draws", async (rate) => {
	const kept = 1 - rate;
	const drawn = await masks(rate, [0, 1, 2, -1, 123456789]);
	for (const mask of drawn) {
		const share = mask.filter(Boolean).length / mask.length;
		expect(Math.abs(share - kept)).toBeLessThan(4 * Math.sqrt((rate * kept) / mask.length));
		const apart = (by: number) => mask.slice(by).map((bit, i) => [mask[i], bit] as const);
		for (const by of [1, 2, columns, 2 * columns, columns + 1])
			expect(Math.abs(correlation(apart(by), kept))).toBeLessThan(4.5);
		// Each row's and each column's count has the spread of a binomial one.
		const spread = (length: number, at: (line: number, i: number) => number, lines: number) => {
			let chi = 0;
			for (let line = 0; line < lines; line++) {
				let count = 0;
				for (let i = 0; i < length; i++) count += Number(mask[at(line, i)]);
				chi += (count - length * kept) ** 2 / (length * rate * kept);
			}
			return (chi - lines) / Math.sqrt(2 * lines);
		};
		expect(Math.abs(spread(columns, (r, c) => r * columns + c, rows))).toBeLessThan(5);
		expect(Math.abs(spread(rows, (c, r) => r * columns + c, columns))).toBeLessThan(5);
	}
	for (let i = 0; i < drawn.length; i++)
		for (let j = 0; j < i; j++) {
			const pairs = drawn[i].map((bit, n) => [bit, drawn[j]?.[n]] as const);
			expect(Math.abs(correlation(pairs, kept))).toBeLessThan(4.5);
		}
});

test("a step can be repeated, and the gradient has the mask of the value", async () => {
	const x = input("x", [7, 5]);
	const y = dropout(x, 0.4, seed, 3);
	const [slope] = gradients(sum(mul(y, 2)), [x]);
	const program = await runtime.compile({ outputs: { y, slope } });
	const feeds = (n: number) => ({ seed: Int32Array.of(n), x: new Float32Array(35).fill(1) });
	const [first, again, other] = [
		await program.run(feeds(5)),
		await program.run(feeds(5)),
		await program.run(feeds(6)),
	];
	await program.dispose();
	expect(again).toEqual(first);
	expect(other.y).not.toEqual(first.y);
	expect([...first.slope]).toEqual([...first.y].map((value) => 2 * value));
});
