import {
	add,
	cast,
	constant,
	div,
	equal,
	floor,
	gather,
	greaterEqual,
	matmul,
	maximum,
	minimum,
	mul,
	pick,
	relu,
	reshape,
	sigmoid,
	slice,
	sub,
	sum,
	type Tensor,
	topK,
} from "../../../engine/tensor/index.js";
import type { Window } from "../../kinds/window.js";
import { normal, type WeightSpecs, type Weights } from "../../nn/weights.js";

/**
 * The sensors of a window and their observations. A place is three things: an observation of its code's
 * sensor; a moment, with all other places of its time; and, where it is the first of its code, the sensor.
 */
export interface Sensors {
	readonly tokens: Tensor; // [rows, places], int32
	/** 1 where a place stands for a sensor. */
	readonly isSensor: Tensor; // [rows, sensors]
	/** 1 where an observation is of a sensor. */
	readonly sensorOf: Tensor; // [rows, observations, sensors]
	/** 1 where an observation is made at a moment; shared by those of one sensor at one moment. */
	readonly momentOf: Tensor; // [rows, moments, observations]
}

export function sensorsOf({ tokens, days, shown }: Window): Sensors {
	const [rows, places] = tokens.shape as [number, number];
	const across = (x: Tensor) => reshape(x, [rows, 1, places]);
	const down = (x: Tensor) => reshape(x, [rows, places, 1]);
	const both = mul(down(shown), across(shown));
	const same = (x: Tensor) => mul(cast(equal(down(x), across(x)), shown.dtype), both);
	const [code, time] = [same(tokens), same(days)];
	const earlier = constant(
		Array.from({ length: places * places }, (_, at) =>
			Number(at % places < Math.floor(at / places)),
		),
		[places, places],
		shown.dtype,
	);
	const isSensor = mul(shown, sub(1, minimum(sum(mul(code, earlier), 2), 1)));
	const alike = maximum(sum(mul(code, time), 2), 1);
	return {
		tokens,
		isSensor,
		sensorOf: mul(code, across(isSensor)),
		momentOf: div(time, across(alike)),
	};
}

/** Every sensor of a window is joined to every other and to itself. */
export function completeGraph({ isSensor }: Sensors): Tensor {
	const [rows, sensors] = isSensor.shape as [number, number];
	return mul(reshape(isSensor, [rows, sensors, 1]), reshape(isSensor, [rows, 1, sensors]));
}

export const observationWeights = (vocab: number, width: number): WeightSpecs => ({
	observation: normal([vocab, width], 1),
});

/**
 * What is known of each sensor at each moment: of those observed then h = relu(x R_u), of others nothing.
 * That a code was recorded has no more to it than that: x = 1.
 */
export function observedStates(p: Weights, { tokens, sensorOf, momentOf }: Sensors): Tensor {
	const [rows, moments, sensors] = sensorOf.shape as [number, number, number];
	const own = relu(gather(p("observation"), tokens)); // [rows, sensors, width]
	return mul(
		reshape(own, [rows, 1, sensors, -1]),
		reshape(matmul(momentOf, sensorOf), [rows, moments, sensors, 1]),
	);
}

export const propagationWeights = (
	vocab: number,
	/** Of what is known of a sensor, of what it is as a receiver, of the encoded times. */
	{ width, receiver, time }: { width: number; receiver: number; time: number },
): WeightSpecs => ({
	message: normal([vocab, width], 1 / Math.sqrt(width)),
	receiver: normal([vocab, receiver], 1),
	dependency: normal([width, receiver + time], 1 / Math.sqrt(width * (receiver + time))),
});

export interface Propagated {
	readonly known: Tensor; // [rows, moments, sensors, width]
	readonly edges: Tensor; // [rows, senders, receivers]
}

/**
 * One layer: each sensor u observed at a moment t tells every v of it,
 *   α_uv^t = σ(h_u^t D [r_v, p^t]ᵀ),   h_v^t ← relu(h_v^t + Σ_u h_u^t w_u w_vᵀ α_uv^t e_uv),
 * and an edge is worth what it was times the mean of its α over the observations of u.
 */
export function propagate(
	p: Weights,
	{ tokens, isSensor, sensorOf, momentOf }: Sensors,
	{ known: h, edges: e }: Propagated,
	/** Of the places, encoded. */
	times: Tensor, // [rows, places, time]
): Propagated {
	const [rows, places, , width] = h.shape as [number, number, number, number];
	const own = reshape(matmul(reshape(sensorOf, [rows, places, 1, places]), h), [
		rows,
		places,
		width,
	]);
	const w = gather(p("message"), tokens); // [rows, places, width]
	const r = gather(p("receiver"), tokens); // [rows, places, receiver]

	// h D [r, p]ᵀ = h (D_r rᵀ) + h (D_p pᵀ): what of D meets a receiver, and what meets a time.
	const D = p("dependency");
	const side = r.shape[2] as number;
	const forReceiver = matmul(r, slice(D, 1, 0, side), { transposeB: true }); // [rows, places, width]
	const forTime = matmul(times, slice(D, 1, side), { transposeB: true });
	const alpha = sigmoid(
		add(matmul(own, forReceiver, { transposeB: true }), sum(mul(own, forTime), 2, true)),
	); // [rows, observations, receivers]

	const sent = mul(sum(mul(own, w), 2, true), mul(alpha, matmul(sensorOf, e)));
	const arrives = matmul(momentOf, sent); // [rows, moments, receivers]
	const received = mul(w, reshape(isSensor, [rows, places, 1]));
	const message = mul(
		reshape(arrives, [rows, places, places, 1]),
		reshape(received, [rows, 1, places, width]),
	);

	const often = reshape(maximum(sum(sensorOf, 1), 1), [rows, places, 1]);
	const dependency = div(matmul(sensorOf, alpha, { transposeA: true }), often); // [rows, senders, receivers]
	return { known: relu(add(h, message)), edges: mul(e, dependency) };
}

/** Only the heaviest edges, this part of those that join sensors of the window; the others are 0. */
export function prune(edges: Tensor, { isSensor }: Sensors, kept: number): Tensor {
	const [rows, sensors] = isSensor.shape as [number, number];
	const flat = reshape(edges, [rows, sensors * sensors]);
	const { values } = topK(flat, sensors * sensors);
	const count = sum(isSensor, 1, true); // [rows, 1]
	const last = maximum(sub(floor(mul(mul(count, count), kept)), 1), 0);
	const least = pick(values, cast(last, "int32"), 1);
	return reshape(mul(flat, cast(greaterEqual(flat, least), flat.dtype)), edges.shape);
}
