/**
 * The recurrence as the paper writes it, in plain loops over float64 arrays, with its gradient
 * by hand: slow, obvious, and independent of the graph. One sequence, one head.
 */
export interface ReferenceInputs {
	readonly length: number;
	readonly key: number;
	readonly value: number;
	readonly q: ArrayLike<number>; // [length, key]
	readonly k: ArrayLike<number>; // [length, key]
	readonly v: ArrayLike<number>; // [length, value]
	readonly logDecay: ArrayLike<number>; // [length]
	readonly initialState: ArrayLike<number>; // [key, value]
}

export interface ReferenceOutputs {
	readonly output: Float64Array; // [length, value]
	readonly finalState: Float64Array; // [key, value]
	/** S_0 … S_N, for the gradient. */
	readonly states: readonly Float64Array[];
}

const at = (array: ArrayLike<number>, i: number): number => array[i];

/** S_n = γ_n S_{n-1} + k_nᵀ v_n, o_n = q_n S_n. */
export function reference(x: ReferenceInputs): ReferenceOutputs {
	const output = new Float64Array(x.length * x.value);
	let state = Float64Array.from(x.initialState);
	const states = [state];
	for (let n = 0; n < x.length; n++) {
		const decay = Math.exp(at(x.logDecay, n));
		state = state.map((s, ij) => {
			const i = Math.floor(ij / x.value);
			const j = ij % x.value;
			return decay * s + at(x.k, n * x.key + i) * at(x.v, n * x.value + j);
		});
		states.push(state);
		for (let i = 0; i < x.key; i++)
			for (let j = 0; j < x.value; j++)
				output[n * x.value + j] =
					at(output, n * x.value + j) + at(x.q, n * x.key + i) * at(state, i * x.value + j);
	}
	return { output, finalState: state, states };
}

export interface ReferenceGradients {
	readonly q: Float64Array;
	readonly k: Float64Array;
	readonly v: Float64Array;
	readonly logDecay: Float64Array;
	readonly initialState: Float64Array;
}

/** Gradients of Σ output · outputCotangent + Σ finalState · stateCotangent. */
export function referenceGradients(
	x: ReferenceInputs,
	outputCotangent: ArrayLike<number>,
	stateCotangent: ArrayLike<number>,
): ReferenceGradients {
	const { states } = reference(x);
	const q = new Float64Array(x.length * x.key);
	const k = new Float64Array(x.length * x.key);
	const v = new Float64Array(x.length * x.value);
	const logDecay = new Float64Array(x.length);
	const down = Float64Array.from(stateCotangent); // ∂/∂S_n
	for (let n = x.length - 1; n >= 0; n--) {
		const decay = Math.exp(at(x.logDecay, n));
		for (let i = 0; i < x.key; i++) {
			for (let j = 0; j < x.value; j++) {
				const ij = i * x.value + j;
				const [qi, kj] = [n * x.key + i, n * x.value + j];
				q[qi] = at(q, qi) + at(outputCotangent, kj) * at(states[n + 1], ij);
				const d = at(down, ij) + at(outputCotangent, kj) * at(x.q, qi);
				k[qi] = at(k, qi) + d * at(x.v, kj);
				v[kj] = at(v, kj) + d * at(x.k, qi);
				logDecay[n] = at(logDecay, n) + d * decay * at(states[n], ij);
				down[ij] = d * decay;
			}
		}
	}
	return { q, k, v, logDecay, initialState: down };
}
