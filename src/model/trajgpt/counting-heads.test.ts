import { describe, expect, test } from "vitest";
import { random } from "../../base/random.js";
import { evaluate } from "../../engine/runtime/testing/evaluate.js";
import { constant, input } from "../../engine/tensor/index.js";
import { trajgptConfig } from "./config.js";
import { countingLogits, countingWeights } from "./layer.js";

const config = trajgptConfig.parse({
	...{ vocab: 9, copies: 2, dim: 4, key: 8, value: 8, heads: 2 },
	decayUnitDays: 2,
});
const tokens = [1, 7, 5, 7, 3, 7];
const gaps = [0, 0, 2, 0.5, 1, 4];
const draw = random(5);
const embedded = Float64Array.from({ length: 24 }, () => draw.normal());
const hidden = Float64Array.from({ length: 24 }, () => draw.normal());
const parameters = new Map(
	Object.entries(countingWeights(config)).map(([name, { shape, draw: start }]) => [
		name,
		{
			shape,
			data: Float64Array.from(
				{ length: shape.reduce((a, b) => a * b, 1) },
				() => start(draw, 0) + 0.5 * draw.normal(),
			),
		},
	]),
);
const at = (name: string, i: number) => parameters.get(name)?.data[i] as number;
const dot = (name: string, head: number, x: Float64Array, n: number) =>
	[0, 1, 2, 3].reduce(
		(sum, i) => sum + at(`copy.${name}`, head * 4 + i) * x[n * 4 + i],
		at(`copy.${name}Bias`, head),
	);

/** The formula, in plain loops. */
function reference(): number[] {
	const logits: number[] = new Array(6 * 9).fill(0);
	for (const head of [0, 1]) {
		const counts = new Float64Array(9);
		for (const [n, token] of tokens.entries()) {
			const rate = -Math.log1p(Math.exp(-dot("decay", head, embedded, n))) / 2;
			for (const c of counts.keys()) counts[c] *= Math.exp(rate * gaps[n]);
			if (token >= 5) counts[token] += Math.exp(dot("weight", head, embedded, n));
			for (const [c, count] of counts.entries())
				logits[n * 9 + c] =
					logits[n * 9 + c] +
					dot("trust", head, hidden, n) *
						Math.log(1 + Math.exp(at("copy.scale", head * 9 + c)) * count);
		}
	}
	return logits;
}

describe("heads that count", () => {
	test("give what the formula gives", async () => {
		const symbols = new Map(
			[...parameters].map(([name, { shape, data }]) => [name, constant(data, shape, "float64")]),
		);
		const { logits } = countingLogits(config, (name) => symbols.get(name) as never, {
			tokens: input("tokens", [1, 6], "int32"),
			embedded: constant(embedded, [1, 6, 4], "float64"),
			hidden: constant(hidden, [1, 6, 4], "float64"),
			overGaps: (rate) => rate.mul(constant(gaps, [6], "float64").reshape([1, 1, 6])),
			slots: 6,
			read: undefined,
			mask: undefined,
			state: undefined,
		});
		const found = await evaluate({ logits }, { tokens: Int32Array.from(tokens) });
		for (const [i, expected] of reference().entries())
			expect(found.logits?.[i]).toBeCloseTo(expected, 10);
	});

	test("have no weights if there are none", () => {
		expect(countingWeights({ ...config, copies: 0 })).toEqual({});
	});
});
