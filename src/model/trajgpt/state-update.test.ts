import { expect, test } from "vitest";
import { random } from "../../base/random.js";
import { updatedStates } from "./state-update.js";

test.each([
	{ heads: 4, key: 24, value: 48 },
	{ heads: 1, key: 1, value: 279 },
	{ heads: 3, key: 5, value: 3 },
	{ heads: 2, key: 3, value: 17 },
])("S = γ S + kᵀ v with $heads heads, keys of $key and values of $value", (shape) => {
	const { heads, key, value } = shape;
	const draw = random(1);
	const rows = 3;
	const [other, own] = updatedStates(rows, [{ heads: 1, key: 1, value: 1 }, shape]);
	for (const array of [own!.state, own!.decay, own!.k, own!.v])
		for (const i of array.keys()) array[i] = draw.normal();
	const before = own!.state.slice();
	own!.update(1);
	for (let row = 0; row < rows; row++)
		for (let head = row * heads; head < (row + 1) * heads; head++)
			for (let i = 0; i < key; i++)
				for (let j = 0; j < value; j++) {
					const at = (head * key + i) * value + j;
					const decayed = Math.fround(own!.decay[head]! * before[at]!);
					const added = Math.fround(own!.k[head * key + i]! * own!.v[head * value + j]!);
					expect(own!.state[at]).toBe(row === 1 ? Math.fround(decayed + added) : before[at]);
				}
	expect(other!.state.every((number) => number === 0)).toBe(true);
});
