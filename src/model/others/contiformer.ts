/*
 * ContiFormer (Chen et al., NeurIPS 2023). Keys and values follow ODEs from their event, attention queries lie on a
 * natural cubic spline through those of the events, and attention compares means over time:
 *
 *     k_i(t) = W_K x_i + ∫ f_K(τ, k_i(τ)) dτ     v_i(t) = W_V x_i + ∫ f_V(τ, v_i(τ)) dτ     from t_i to t
 *     α_i(t) = ∫ q(τ) · k_i(τ) dτ / (t − t_i)    v̂_i(t) = ∫ v_i(τ) dτ / (t − t_i)           from t_i to t
 *     z(t) = Σ_i softmax_i (α_i(t) / √d) v̂_i(t)
 *
 * A layer is x ← LN(x + z), x ← LN(x + FF(x)). The curves are in `contiformer-curves.ts`.
 */

import type { z } from "zod";
import { constant, filled, type Tensor, where } from "../../engine/tensor/index.js";
import { fields, headsDivide, integer, layeredFields, modelSettings } from "../kinds/fields.js";
import { embedded, type Window, windowModel } from "../kinds/window.js";
import * as nn from "../nn/index.js";
import {
	bendAtLast,
	clockAfter,
	clockOf,
	type Fineness,
	flowWeights,
	inside,
	nodesOf,
	pieces,
	readings,
	startReading,
	type Times,
	timesOf,
	trajectories,
} from "./contiformer-curves.js";

export interface Sizes extends Fineness {
	readonly dim: number;
	readonly heads: number;
	/** Width inside the networks that drive keys and values. */
	readonly flow: number;
}

export const continuousWeights = ({ dim, flow }: Sizes): nn.WeightSpecs => ({
	...nn.attentionWeights(dim),
	...nn.nested("keyFlow", flowWeights(dim, flow)),
	...nn.nested("valueFlow", flowWeights(dim, flow)),
});

/** What places are, as functions of time. */
function curvesOf(p: nn.Weights, { steps }: Fineness, x: Tensor, times: Times) {
	const [queries, starts, value] = ["query", "key", "value"].map((name) =>
		nn.linear(p, name, x),
	) as [Tensor, Tensor, Tensor];
	return {
		/** What the spline goes through, and its second derivatives there. */
		queries, // [rows, places, dim]
		bends: times.bending.ofValues.matmul(queries),
		/** Where the keys start. */
		starts,
		// [rows, places, grid, dim]
		keys: trajectories(nn.within(p, "keyFlow"), starts, times.clock, steps),
		values: trajectories(nn.within(p, "valueFlow"), value, times.clock, steps),
	};
}

/** A spline between the places, at the points where integrands are read: [rows, 1, nodes, width]. */
function atNodes(values: Tensor, bends: Tensor, { knots, rule }: Times): Tensor {
	const [rows, , width] = values.shape as [number, number, number];
	return inside(pieces(values, bends, knots), rule.points).reshape([rows, 1, -1, width]);
}

/** [dim, heads]: 1 where a number is the head's. */
const ownership = ({ dim, heads }: Sizes, dtype: Tensor["dtype"]): Tensor =>
	nn.table([dim, heads], (i, head) => Number(Math.floor((i * heads) / dim) === head), dtype);

/** Means over the time from each place to the time of each query. */
interface Means {
	/** Of q · k. */
	readonly products: Tensor; // [rows, places, heads, queries]
	/** Of v. */
	readonly values: Tensor; // [rows, places, queries, dim]
}

/** Softmax of the mean products over the places, and the mean values weighted so: [rows, queries, dim]. */
export function attend(
	p: nn.Weights,
	sizes: Sizes,
	{ products, values }: Means,
	shown: Tensor,
): Tensor {
	const [rows, places] = shown.shape as [number, number];
	const mask = nn.paddingMask(shown).reshape([rows, places, 1, 1]);
	const share = products
		.mul(Math.sqrt(sizes.heads / sizes.dim))
		.add(mask)
		.softmax(1);
	const headMask = ownership(sizes, share.dtype);
	const wide = share.matmul(headMask, { transposeA: true, transposeB: true }); // [rows, places, queries, dim]
	return nn.linear(p, "out", wide.mul(values).sum(1));
}

/**
 * From every place to every place, earlier or later:
 *
 *     α_ij = ∫ q(τ) · k_i(τ) dτ / (t_j − t_i)     v̂_ij = ∫ v_i(τ) dτ / (t_j − t_i)     from t_i to t_j
 *
 * and q(t_i) · k_i, v_i where i is j. An integral is the difference of two sums over the points
 * between places, from the first place up to t_j and up to t_i.
 */
export function meansAtPositions(p: nn.Weights, sizes: Sizes, x: Tensor, times: Times): Means {
	const { queries, bends, starts, keys, values } = curvesOf(p, sizes, x, times);
	const [rows, places] = times.shown.shape as [number, number];
	const { dtype } = x;
	const upTo = sumsUpTo(places, sizes.points, dtype);
	const same = nn.table([places, places], (i, j) => Number(i === j), dtype);
	const at = times.clock.places;
	const lag = at.reshape([rows, 1, places]).sub(at.reshape([rows, places, 1]));
	const over = where(lag.equal(0), 1, lag); // [rows, from, to]
	const weight = times.weight.reshape([rows, 1, -1, 1]);

	const q = atNodes(queries, bends, times).mul(weight);
	const headMask = ownership(sizes, dtype);
	const each = times.read.matmul(keys).mul(q).matmul(headMask); // [rows, from, nodes, heads]
	const passed = each.matmul(upTo, { transposeA: true }); // [rows, from, heads, to]
	const here = same.reshape([places, 1, places]);
	const between = passed.sub(passed.mul(here).sum(3, true));
	const atOnce = starts.mul(queries).matmul(headMask).reshape([rows, places, sizes.heads, 1]);

	// Values are means of readings, so that no trajectory is written out at all points.
	const read = upTo.matmul(times.read.mul(weight), { transposeA: true }); // [rows, from, to, grid]
	const there = same.reshape([places, places, 1]);
	const readBetween = read.sub(read.mul(there).sum(2, true));
	const start = startReading(sizes.steps);
	const reading = readBetween
		.div(over.reshape([rows, places, places, 1]))
		.add(there.mul(constant(start, [start.length], dtype)));
	return {
		products: between.div(over.reshape([rows, places, 1, places])).add(atOnce.mul(here)),
		values: reading.matmul(values),
	};
}

/** [nodes, places]: which points come before which place. */
const sumsUpTo = (places: number, points: number, dtype: Tensor["dtype"]): Tensor =>
	nn.table(
		[(places - 1) * points, places],
		(node, place) => Number(Math.floor(node / points) < place),
		dtype,
	);

/** Places after the last one, each alone: what they hold, and how far after it they come on the clock. */
interface LaterQueries {
	readonly x: Tensor; // [rows, queries, dim]
	readonly after: Tensor; // [rows, queries]
}

/**
 * From every place to every later one, as among places. Each query has a spline of its own, through
 * the places and itself. Up to the last place it is theirs and m times a curve that all queries
 * share, so integrals over that part are taken once; one more piece leads to the query.
 */
export function meansAtQueries(
	p: nn.Weights,
	sizes: Sizes,
	x: Tensor,
	times: Times,
	later: LaterQueries,
): Means {
	const { queries, bends, keys, values } = curvesOf(p, sizes, x, times);
	const { clock, knots, bending, rule } = times;
	const [rows, places] = times.shown.shape as [number, number];
	const queryCount = later.after.shape[1] as number;
	const points = rule.points.length;
	const { dtype } = x;

	const query = nn.linear(p, "query", later.x);
	const m = bendAtLast(queries, bends, knots, bending, { length: later.after, values: query });
	const weight = times.weight.reshape([rows, 1, -1, 1]);
	const read = times.read.mul(onward(places, points, dtype)).mul(weight);
	const curve = atNodes(filled(0, bending.ofLast.shape, dtype), bending.ofLast, times);
	const withSpline = read
		.matmul(keys)
		.mul(atNodes(queries, bends, times))
		.sum(2, true);
	const withCurve = read.mul(curve).sum(2, true).matmul(keys); // [rows, places, 1, dim]

	const last = clock.places.slice(1, -1);
	const nodes = nodesOf(rule, last, later.after);
	const readPiece = readings(clock, nodes.at, sizes.steps).mul(
		nodes.weight.reshape([rows, 1, -1, 1]),
	);
	const piece = inside(
		{
			values: [queries.slice(1, -1), query],
			bends: [m, filled(0, [1, 1, 1], dtype)],
			length: later.after,
		},
		rule.points,
	); // [rows, queries, points, dim]
	const byQuery = (y: Tensor) =>
		y.reshape([rows, places, queryCount, points, y.shape[3] as number]).sum(3);
	const withPiece = byQuery(
		readPiece.matmul(keys).mul(piece.reshape([rows, 1, queryCount * points, -1])),
	);

	const lag = later.after
		.reshape([rows, 1, queryCount, 1])
		.add(last.sub(clock.places).reshape([rows, places, 1, 1]));
	const whole = withSpline.add(withCurve.mul(m.reshape([rows, 1, queryCount, -1]))).add(withPiece); // [rows, places, queries, dim]
	return {
		products: ownership(sizes, dtype).matmul(whole.div(lag), {
			transposeA: true,
			transposeB: true,
		}),
		values: read.sum(2, true).add(byQuery(readPiece)).div(lag).matmul(values),
	};
}

/** [places, nodes, 1]: which points come after which place. */
const onward = (places: number, points: number, dtype: Tensor["dtype"]): Tensor => {
	const nodes = (places - 1) * points;
	return constant(
		Array.from({ length: places * nodes }, (_, at) =>
			Number(Math.floor((at % nodes) / points) >= Math.floor(at / nodes)),
		),
		[places, nodes, 1],
		dtype,
	);
};

const config = modelSettings({
	...layeredFields(128, { layers: 1, dim: 32 }),
	flow: integer(1, 4096, 32, "width inside the networks that drive keys and values"),
	steps: integer(
		1,
		64,
		4,
		"steps in which an ODE is solved from an event to either end of the window",
	),
	points: integer(1, 16, 2, "points between two places at which integrands are read"),
	window: fields.window.unwrap().min(3).default(52),
	ahead: fields.ahead.unwrap().default(16),
})
	.refine(headsDivide.check, headsDivide.say)
	.refine(({ dim }) => dim % 2 === 0, {
		path: ["dim"],
		error: "even: times are sines and cosines",
	});

type ContiformerConfig = z.infer<typeof config>;

/** Waves from one of 6 days to one of 170 years. */
const encodingOf = ({ dim }: ContiformerConfig, days: Tensor): Tensor =>
	nn.timeEncoding(days, { width: dim, longest: 10_000 });

/** What follows the attention in a layer. */
function settled(p: nn.Weights, x: Tensor, seen: Tensor): Tensor {
	const y = nn.norm(p, "attentionNorm", x.add(seen));
	return nn.norm(p, "feedForwardNorm", y.add(nn.feedForward(p, "feedForward", y)));
}

/** What each layer reads at the places, times told, and what the last one gives. */
function throughLayers(config: ContiformerConfig, p: nn.Weights, window: Window, times: Times) {
	const encoding = encodingOf(config, window.days);
	const inputs: Tensor[] = [];
	let x = embedded(p, window);
	for (const q of nn.withinEach(p, "layers", config.layers)) {
		const timed = x.add(encoding);
		inputs.push(timed);
		const means = meansAtPositions(nn.within(q, "attention"), config, timed, times);
		x = settled(q, timed, attend(nn.within(q, "attention"), config, means, times.shown));
	}
	return { inputs, output: x };
}

const rowTimes = (config: ContiformerConfig, window: Window): Times =>
	timesOf(clockOf(window), window.shown, config);

/** A Transformer in continuous time: queries, keys and values are curves, and a score is a mean over time. */
export const contiformer = windowModel<ContiformerConfig>({
	id: "contiformer",
	name: "ContiFormer",
	cite: "Chen, Ren, Wang, Fang, Sun, Li: ContiFormer: Continuous-Time Transformer for Irregular Time Series Modeling, 2023",
	config,
	learningRate: 1e-2,
	learningRates: { paper: 3e-2 },
	presets: {
		tiny: { ff: 64 },
		default: {},
		paper: { ff: 400 },
	},
	pretraining: "masked",
	forecasts: "after pretraining",
	usesQueryTime: true,
	weights(config) {
		const { layers, dim, ff } = config;
		const layer = {
			...nn.normed("attention", continuousWeights(config), dim),
			...nn.normed("feedForward", nn.feedForwardWeights(dim, ff), dim),
		};
		return nn.numbered("layers", layers, layer);
	},
	encode: (config, p, window) => throughLayers(config, p, window, rowTimes(config, window)).output,
	// A query is a masked place that follows the last one: no place sees it, nor does another query.
	query(config, p, _encoded, window, { days, gaps }) {
		const times = rowTimes(config, window);
		const { inputs } = throughLayers(config, p, window, times);
		const encoding = encodingOf(config, days);
		const after = clockAfter(times.clock, gaps);
		let x: Tensor | undefined;
		for (const [i, q] of nn.withinEach(p, "layers", config.layers).entries()) {
			const timed: Tensor = x ? x.add(encoding) : encoding;
			const means = meansAtQueries(nn.within(q, "attention"), config, inputs[i], times, {
				x: timed,
				after,
			});
			x = settled(q, timed, attend(nn.within(q, "attention"), config, means, times.shown));
		}
		return x as Tensor;
	},
});
