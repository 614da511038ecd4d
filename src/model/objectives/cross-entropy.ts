import {
	input,
	logSoftmax,
	mul,
	neg,
	pick,
	reshape,
	sum,
	type Tensor,
} from "../../engine/tensor/index.js";
import type { LossTerm } from "../objective.js";

/** Σ −log p(target) over the targets that count, which are fed. */
export function crossEntropy(name: string, logits: Tensor): LossTerm {
	const [rows, places] = logits.shape as [number, number, number];
	const targets = input(`${name}.targets`, [rows, places], "int32");
	const weights = input(`${name}.weights`, [rows, places], logits.dtype);
	const chosen = pick(logSoftmax(logits), reshape(targets, [rows, places, 1]), 2);
	return { name, total: neg(sum(mul(reshape(chosen, [rows, places]), weights))) };
}

/** What `crossEntropy` is fed, and how many targets count. */
export function emptyTargets(name: string, cells: number) {
	const targets = new Int32Array(cells);
	const weights = new Float32Array(cells);
	let count = 0;
	return {
		feeds: { [`${name}.targets`]: targets, [`${name}.weights`]: weights },
		/** Names the target of a cell; one that is not named does not count. */
		expect(cell: number, token: number) {
			targets[cell] = token;
			weights[cell] = 1;
			count++;
		},
		count: () => count,
	};
}

export type Targets = ReturnType<typeof emptyTargets>;
