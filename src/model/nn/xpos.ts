import {
	cast,
	constant,
	exp,
	type FloatType,
	minimum,
	mul,
	neg,
	reshape,
	type Tensor,
} from "../../engine/tensor/index.js";
import { type Angles, timeAngles } from "./rotary-time.js";

/** How queries and keys are turned and scaled; by `turn`, which is linear in both tables. */
export interface Xpos {
	readonly queries: Angles; // [rows, places, size / 2]
	readonly keys: Angles;
}

/** Time in which pair i of a query fades to ζ_i. */
const scaleBase = 512;

/**
 * Where a scale stops. A key grows as much as a query fades, so e⁴⁰ is also the largest product of
 * a key and an earlier query, which the mask of time takes away: it must be finite for that.
 */
const mostFaded = 40;

/** −log ζ_i, with ζ_i = (2i + 0.4 size) / (1.4 size). */
const fadings = (size: number) =>
	Array.from({ length: size / 2 }, (_, i) => -Math.log((2 * i + 0.4 * size) / (1.4 * size)));

/**
 * Extrapolatable positions (Sun et al. 2023), at times that count from the row's first place: pair i
 * of a query is turned by θ_i t and scaled by ζ_i^(t / 512), of a key by θ_i t and ζ_i^(−t / 512),
 * with θ_i = 10000^(−2i / size). So q_n · k_m depends on t_n − t_m alone, and fades with it.
 */
export function xpos(
	times: Tensor, // [rows, places], at least 0
	/** Of a head's queries; even. */
	size: number,
	/** What queries are multiplied by, beside. */
	factor = 1,
): Xpos {
	const half = size / 2;
	const dtype = times.dtype as FloatType;
	const { cosine, sine } = timeAngles(
		cast(times, "float64"),
		half,
		{
			shortestPeriod: 2 * Math.PI,
			longestPeriod: 2 * Math.PI * 10000 ** ((half - 1) / half),
		},
		dtype,
	);
	const rates = constant(
		fadings(size).map((rate) => rate / scaleBase),
		[half],
		dtype,
	);
	const faded = minimum(mul(reshape(times, [...times.shape, 1]), rates), mostFaded);
	const scaled = (scale: Tensor): Angles => ({
		cosine: mul(cosine, scale),
		sine: mul(sine, scale),
	});
	return { queries: scaled(mul(exp(neg(faded)), factor)), keys: scaled(exp(faded)) };
}
