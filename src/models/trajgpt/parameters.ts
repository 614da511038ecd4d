import type { Random } from "../../base/random.js";
import type { FixedShape } from "../../graph/index.js";
import type { ParameterValues } from "../model.js";
import { decayIsFixed, type TrajgptConfig } from "./config.js";
import { copyParameters } from "./copy.js";
import { gapFeatures } from "./gap.js";

/** The shape of every learned tensor, by name. Weights are [out, in]. */
export function parameterShapes(c: TrajgptConfig): Map<string, FixedShape> {
	const shapes = new Map<string, FixedShape>([["embedding", [c.vocab, c.dim]]]);
	if (c.position === "absolute") shapes.set("positions", [c.positions, c.dim]);
	if (c.gap === "embedded") shapes.set("gap", [c.dim, gapFeatures]);
	for (let i = 0; i < c.layers; i++) {
		const add = (name: string, ...shape: number[]) => shapes.set(`layers.${i}.${name}`, shape);
		add("query", c.key, c.dim);
		add("key", c.key, c.dim);
		add("value", c.value, c.dim);
		add("gate", c.value, c.dim);
		if (!decayIsFixed(c)) {
			add("decay", c.heads, c.dim);
			add("decayBias", c.heads);
		}
		add("out", c.dim, c.value);
		add("up", c.ff, c.dim);
		add("down", c.dim, c.ff);
	}
	for (const [name, { shape }] of copyParameters(c)) shapes.set(name, shape);
	return c.head === "own" ? shapes.set("head", [c.vocab, c.dim]) : shapes;
}

/** Logits of the heads' decay at the start: from quick forgetting to slow. */
export const initialDecay = (heads: number): number[] =>
	Array.from({ length: heads }, (_, h) => 1 + (5 * h) / Math.max(1, heads - 1));

/** Of the vectors that are looked up; those of positions start as GPT-2's. */
const vectorDeviation: Readonly<Record<string, number>> = { embedding: 1, positions: 0.02 };

export function initialParameters(config: TrajgptConfig, random: Random): ParameterValues {
	const values: ParameterValues = new Map();
	const copies = copyParameters(config);
	for (const [name, shape] of parameterShapes(config)) {
		const draw = random.fork(name);
		const data = new Float32Array(shape.reduce((a, b) => a * b, 1));
		const kind = name.split(".").at(-1);
		const [rows, columns = 1] = shape as [number, number?];
		// Residual branches start small, so that depth does not grow the stream.
		const residual = kind === "out" || kind === "down" ? 1 / Math.sqrt(2 * config.layers) : 1;
		const deviation = vectorDeviation[name] ?? residual / Math.sqrt(columns);
		for (let i = 0; i < data.length; i++) data[i] = draw.normal() * deviation;
		if (kind === "decayBias") data.set(initialDecay(rows));
		if (kind === "decay") data.fill(0);
		const start = copies.get(name)?.start;
		if (start !== undefined) data.fill(start);
		values.set(name, { shape, data });
	}
	return values;
}
