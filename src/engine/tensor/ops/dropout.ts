import { fail, size, type Tensor } from "../tensor.js";
import { where } from "./elementwise.js";
import { constant, scalar } from "./sources.js";

const odd = [0x9e3779b1, 0x85ebca77, 0xc2b2ae3d] as const;

/**
 * 32 bits that depend on every bit of the key, computed with the int32 operations that every provider has:
 * x (2x + 1) is a permutation that carries low bits up, the quotient brings high ones down.
 */
function mixed(key: Tensor): Tensor {
	let x = key;
	for (const factor of odd) {
		const y = x.mul(x.mul(2).add(1));
		x = y.mul(factor).add(y.div(0x10000));
	}
	return x;
}

/** One mixed word per index below `count`. */
function words(count: number, key: Tensor, stream: number): Tensor {
	const indices = constant(
		Array.from({ length: count }, (_, i) => i),
		[count],
		"int32",
	);
	return mixed(indices.mul(odd[0]).add(key.add(Math.imul(stream, odd[2]))));
}

/**
 * Drops elements at the given rate and scales up the rest. The mask is a function of the seed (an int32 scalar, such
 * as the step's number), the site (one number per dropout layer of the model) and the element's position, so that a
 * step can be repeated.
 */
export function dropout(x: Tensor, rate: number, seed: Tensor, site: number): Tensor {
	if (seed.dtype !== "int32" || seed.shape.length > 0)
		fail("dropout", "the seed must be an int32 scalar", [x, seed]);
	if (!(rate >= 0 && rate < 1)) fail("dropout", `rate ${rate} is outside [0, 1)`, [x, seed]);
	if (rate === 0) return x;
	const columns = (x.shape.at(-1) ?? 1) as number;
	const key = mixed(seed.mul(odd[1]).add(Math.imul(site + 1, odd[0])));
	// A product of two mixed words, one of them odd, is a mixed word in its upper bits: three
	// passes over the elements instead of twelve.
	const row = words(size(x.shape) / columns, key, 1)
		.mul(2)
		.add(1);
	const word = row.reshape([-1, 1]).mul(words(columns, key, 2));
	const keep = word.greaterEqual(Math.round(rate * 2 ** 32) - 2 ** 31);
	const mask = where(keep, scalar(1 / (1 - rate), x.dtype), scalar(0, x.dtype));
	return x.mul(mask.reshape(x.shape));
}
