import { describe, expect, test } from "vitest";
import { type Token, vocabularyOf } from "../../data/cohort/vocabulary.js";
import { nodeRuntime } from "../../engine/runtime/node.js";
import { parameter } from "../../engine/tensor/index.js";
import { codeNumbers, learnTogether, startTogether } from "./shared-codes.js";

const token = (code: string, quantile?: number): Token => ({
	...{ kind: "other", system: "events", name: code, category: null, count: 1 },
	code: quantile ? `${code} Q${quantile}` : code,
	...(quantile && {
		value: { code, name: code, unit: null, low: null, high: null, quantile, of: 2 },
	}),
});

const plain = vocabularyOf([token("a"), token("b")]);
const codes = codeNumbers(vocabularyOf([token("a", 1), token("b"), token("a", 2)])) as Int32Array;

test("tokens of one code have one number", () => {
	expect(codeNumbers(plain)).toBeUndefined();
	expect([...codes]).toEqual([0, 1, 2, 3, 4, 5, 6, 5]);
});

test("rows of one code start near to each other, other weights as they were", () => {
	const data = Float32Array.from({ length: 16 }, (_, at) => at);
	const weights = new Map([
		["embedding", { shape: [8, 2], data }],
		["other", { shape: [8, 2], data }],
	]);
	const started = startTogether(weights, codes);
	const rows = started.get("embedding")?.data as Float32Array;
	expect([...rows.slice(0, 14)]).toEqual([...data.slice(0, 14)]);
	expect(rows[14]).toBeCloseTo(10 + 0.3 * 14, 5);
	expect(rows[15]).toBeCloseTo(11 + 0.3 * 15, 5);
	expect(started.get("other")?.data).toEqual(data);
});

describe("gradients", () => {
	const runtime = nodeRuntime({ threads: 1, purpose: "inference" });
	test("of one code are added to those of its tokens", async () => {
		const gradient = parameter("gradient", [8, 1]);
		const program = await runtime.compile({
			outputs: { mixed: learnTogether("embedding", gradient, codes) },
		});
		const resident = runtime.resident(
			new Map([["gradient", { shape: [8, 1], data: Float32Array.of(0, 0, 0, 0, 0, 1, 10, 100) }]]),
		);
		const { mixed } = await program.run({}, resident);
		expect([...(mixed as Float32Array)]).toEqual([0, 0, 0, 0, 0, 102, 20, 201]);
		expect(learnTogether("decay", gradient, codes)).toBe(gradient);
	});
});
