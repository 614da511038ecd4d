import { yearDays } from "../../base/time.js";
import { specialCount, specialTokens } from "../../data/cohort/vocabulary.js";
import {
	abs,
	add,
	both,
	cast,
	concat,
	constant,
	type Dim,
	div,
	either,
	equal,
	floor,
	greaterEqual,
	less,
	log,
	matmul,
	max,
	minimum,
	mul,
	oneHot,
	pad,
	relu,
	reshape,
	scalar,
	slice,
	sub,
	sum,
	type Tensor,
	where,
} from "../../engine/tensor/index.js";
import type { Features } from "./head.js";
import { ageKnots, recentDays } from "./landmarks.js";
import { type HazardSettings, outputsOf } from "./settings.js";

/** Histories that end on their index days, of any number and length. */
export interface GraphHistories {
	readonly tokens: Tensor; // [batch, length], int32
	readonly times: Tensor; // [batch, length], float64
	readonly isEvent: Tensor; // [batch, length], bool
	/** The index days. */
	readonly days: Tensor; // [batch, 1], float64
}

/** No history is so long, in days. */
const never = 1e9;

const float = (x: Tensor) => cast(x, "float32");

/** The features of `landmarkValues`, computed by a graph from the histories alone. */
export function featureGraph(
	settings: HazardSettings,
	vocab: number,
	{ tokens, times, isEvent, days }: GraphHistories,
): Features {
	const [batch, length] = tokens.shape as [Dim, Dim];
	const { count } = outputsOf(settings, vocab);
	const isRecord = both(isEvent, greaterEqual(tokens, scalar(specialCount, "int32")));
	const records = float(isRecord); // [batch, length]
	const own = floor(times);
	const ago = float(sub(days, own)); // [batch, length]
	const recent = mul(records, float(less(ago, recentDays)));

	const codes = mul(oneHot(tokens, vocab), reshape(records, [batch, length, 1]));
	const groups = minimum(matmul(codes, membership(settings, vocab)), 1);
	const outputs = pad(concat([codes, groups], 2), 2, 0, 1); // [batch, length, outputs]; death has no records
	const totals = (weights: Tensor) =>
		reshape(matmul(reshape(weights, [batch, 1, length]), outputs), [batch, count]);
	const counts = totals(records);
	/** The days since the last of some records; −1 if there are none. */
	const sinceLast = (are: Tensor, since: Tensor) => {
		const latest = max(where(greaterEqual(are, 0.5), mul(since, -1), -never), 1); // ≤ 0
		return where(less(latest, -never / 2), -1, mul(latest, -1));
	};

	// A day is counted at its first record; the birth, which comes before all records, is none.
	const before = (x: Tensor, first: Tensor) => concat([first, slice(x, 1, 0, -1)], 1);
	const earlier = before(own, mul(slice(own, 1, 0, 1), 0));
	const follows = before(records, mul(slice(records, 1, 0, 1), 0));
	const begins = mul(
		records,
		float(either(less(follows, 0.5), less(scalar(0, "float64"), sub(own, earlier)))),
	);
	const each = (x: Tensor) => sum(x, 1, true); // [batch, 1]
	const someCodes = minimum(slice(counts, 1, 0, vocab), 1);
	const longest = max(mul(ago, records), 1, true); // 0 without records
	const past = [
		each(mul(begins, recent)),
		each(recent),
		each(begins),
		each(someCodes),
		div(longest, yearDays),
	];
	return {
		ages: ageGraph(tokens, times, isEvent, days),
		counts,
		recent: totals(recent),
		since: sinceLast(outputs, reshape(ago, [batch, length, 1])),
		sinceAny: reshape(sinceLast(records, ago), [batch, 1]),
		past: log(add(concat(past, 1), 1)),
	};
}

function membership({ groups }: HazardSettings, vocab: number): Tensor {
	const values = new Float32Array(vocab * groups.length);
	for (const [i, { tokens }] of groups.entries())
		for (const token of tokens) values[token * groups.length + i] = 1;
	return constant(values, [vocab, groups.length]);
}

/** Hats over age, and the same by sex. */
function ageGraph(tokens: Tensor, times: Tensor, isEvent: Tensor, days: Tensor): Tensor {
	const first = (x: Tensor) => slice(x, 1, 0, 1); // [batch, 1]
	const [token, isFirst] = [first(tokens), first(isEvent)];
	const isBirth = both(isFirst, less(token, scalar(specialCount, "int32")));
	const age = div(float(sub(days, first(times))), yearDays);
	const spacing = ageKnots[1] as number;
	const knots = constant(Float32Array.from(ageKnots), [1, ageKnots.length]);
	const hats = mul(relu(sub(1, mul(abs(sub(age, knots)), 1 / spacing))), float(isBirth));
	const is = (sex: number) => float(equal(token, scalar(sex, "int32")));
	return concat([hats, mul(hats, sub(is(specialTokens.male), is(specialTokens.female)))], 1);
}
