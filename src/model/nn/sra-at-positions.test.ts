import { describe, expect, it } from "vitest";
import { random } from "../../base/random.js";
import { evaluate, relativeError } from "../../engine/runtime/testing/evaluate.js";
import { input, type Tensor } from "../../engine/tensor/index.js";
import { readAtPositions } from "./sra.js";
import { reference } from "./testing/sra-reference.js";

const [batch, heads, key, value, queries] = [2, 3, 4, 5, 9];

function values(slots: number) {
	const draw = random(slots);
	const normal = (length: number) => Float64Array.from({ length }, () => draw.normal());
	const places = Int32Array.from({ length: batch * queries }, () => draw.integer(slots + 1));
	places.set([0, slots, 1]);
	return {
		queries: normal(batch * heads * queries * key),
		places,
		k: normal(batch * heads * slots * key),
		v: normal(batch * heads * slots * value),
		// One gap in ten is long: what came before it is forgotten to the last digit.
		logDecay: Float64Array.from(
			{ length: batch * heads * slots },
			() => -draw.uniform() * (draw.integer(10) === 0 ? 1e4 : 0.5),
		),
		initialState: normal(batch * heads * key * value),
	};
}

/** q S_p, from the states of the plain recurrence. */
function wanted(x: ReturnType<typeof values>, slots: number, fromNothing: boolean): number[] {
	const out: number[] = [];
	for (let row = 0; row < batch * heads; row++) {
		const part = (data: Float64Array, width: number) =>
			data.subarray(row * width, (row + 1) * width);
		const initial = part(x.initialState, key * value);
		const { states } = reference({
			length: slots,
			key,
			value,
			q: new Float64Array(slots * key),
			k: part(x.k, slots * key),
			v: part(x.v, slots * value),
			logDecay: part(x.logDecay, slots),
			initialState: fromNothing ? initial.map(() => 0) : initial,
		});
		const q = part(x.queries, queries * key);
		for (let n = 0; n < queries; n++) {
			const place = x.places[Math.floor(row / heads) * queries + n];
			for (let j = 0; j < value; j++) {
				let read = 0;
				for (let i = 0; i < key; i++) read += q[n * key + i] * states[place]?.[i * value + j];
				out.push(read);
			}
		}
	}
	return out;
}

describe("queries between slots", () => {
	for (const slots of [1, 7, 64, 65, 150])
		for (const fromNothing of [false, true])
			it(`read the state before them, of ${slots} slots${fromNothing ? " from nothing" : ""}`, async () => {
				const x = values(slots);
				const float = (name: string, shape: number[]): Tensor => input(name, shape, "float64");
				const read = readAtPositions({
					queries: float("queries", [batch, heads, queries, key]),
					positions: input("places", [batch, queries], "int32"),
					k: float("k", [batch, heads, slots, key]),
					v: float("v", [batch, heads, slots, value]),
					logDecay: float("logDecay", [batch, heads, slots]),
					initialState: fromNothing ? undefined : float("initialState", [batch, heads, key, value]),
				});
				const got = await evaluate({ read }, x);
				expect(relativeError(got.read, wanted(x, slots, fromNothing))).toBeLessThan(1e-12);
			});
});
