import { yearDays } from "../../base/time.js";
import { specialCount, specialTokens } from "../../data/cohort/vocabulary.js";
import type { Dim, Tensor } from "../../engine/tensor/index.js";
import * as graph from "../../engine/tensor/index.js";
import { type Features, hat } from "./head.js";
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

/** Days, longer than any history. */
const never = 1e9;

const float = (x: Tensor) => x.cast("float32");

/** The features of `landmarkValues`, computed by a graph from the histories alone. */
export function featureGraph(
	settings: HazardSettings,
	vocab: number,
	{ tokens, times, isEvent, days }: GraphHistories,
): Features {
	const [batch, length] = tokens.shape as [Dim, Dim];
	const { count } = outputsOf(settings, vocab);
	const isRecord = graph.both(isEvent, tokens.greaterEqual(graph.scalar(specialCount, "int32")));
	const records = float(isRecord); // [batch, length]
	const eventDays = times.floor();
	const ago = float(days.sub(eventDays)); // [batch, length]
	const recent = records.mul(float(ago.less(recentDays)));

	const codes = graph.oneHot(tokens, vocab).mul(records.reshape([batch, length, 1]));
	const groups = codes.matmul(membership(settings, vocab)).minimum(1);
	const outputs = graph.concat([codes, groups], 2).pad(2, 0, 1); // [batch, length, outputs]; death has no records
	const totals = (weights: Tensor) =>
		weights.reshape([batch, 1, length]).matmul(outputs).reshape([batch, count]);
	const counts = totals(records);
	/** The days since the last of some records; −1 if there are none. */
	const sinceLast = (are: Tensor, since: Tensor) => {
		const latest = graph.where(are.greaterEqual(0.5), since.mul(-1), -never).max(1); // ≤ 0
		return graph.where(latest.less(-never / 2), -1, latest.mul(-1));
	};

	// A day is counted at its first record; the birth, which comes before all records, is none.
	const before = (x: Tensor, first: Tensor) => graph.concat([first, x.slice(1, 0, -1)], 1);
	const earlier = before(eventDays, eventDays.slice(1, 0, 1).mul(0));
	const follows = before(records, records.slice(1, 0, 1).mul(0));
	const begins = records.mul(
		float(graph.either(follows.less(0.5), graph.scalar(0, "float64").less(eventDays.sub(earlier)))),
	);
	const each = (x: Tensor) => x.sum(1, true); // [batch, 1]
	const someCodes = counts.slice(1, 0, vocab).minimum(1);
	const longest = ago.mul(records).max(1, true); // 0 without records
	const past = [
		each(begins.mul(recent)),
		each(recent),
		each(begins),
		each(someCodes),
		longest.div(yearDays),
	];
	const since = sinceLast(outputs, ago.reshape([batch, length, 1]));
	const person = personGraph(tokens, times, isEvent, days);
	return {
		person,
		ages: ageGraph(person),
		counts,
		recent: totals(recent),
		recency: graph.where(since.less(0), 0, graph.div(1, since.div(yearDays).add(1))),
		since,
		sinceAny: sinceLast(records, ago).reshape([batch, 1]),
		past: graph.concat(past, 1).add(1).log(),
	};
}

function membership({ groups }: HazardSettings, vocab: number): Tensor {
	const values = new Float32Array(vocab * groups.length);
	for (const [i, { tokens }] of groups.entries())
		for (const token of tokens) values[token * groups.length + i] = 1;
	return graph.constant(values, [vocab, groups.length]);
}

/** The age, −1 if the birth is unknown, and the sign of the sex. */
function personGraph(tokens: Tensor, times: Tensor, isEvent: Tensor, days: Tensor): Tensor {
	const first = (x: Tensor) => x.slice(1, 0, 1); // [batch, 1]
	const [token, isFirst] = [first(tokens), first(isEvent)];
	const isBirth = graph.both(isFirst, token.less(graph.scalar(specialCount, "int32")));
	const age = float(days.sub(first(times)))
		.div(yearDays)
		.maximum(0);
	const is = (sex: number) => float(token.equal(graph.scalar(sex, "int32")));
	const sign = is(specialTokens.male).sub(is(specialTokens.female));
	return graph.concat([graph.where(isBirth, age, -1), sign.mul(float(isBirth))], 1);
}

/** Hats over age, and the same by sex. */
function ageGraph(person: Tensor): Tensor {
	const age = person.slice(1, 0, 1);
	const knots = graph.constant(Float32Array.from(ageKnots), [1, ageKnots.length]);
	const hats = hat(age, knots, ageKnots[1]).mul(float(age.greaterEqual(0)));
	return graph.concat([hats, hats.mul(person.slice(1, 1, 2))], 1);
}
