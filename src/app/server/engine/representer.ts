import { specialCount } from "../../../data/cohort/vocabulary.js";
import { programs, type Runtime } from "../../../engine/runtime/index.js";
import { pooled, pooledFeeds } from "../../../model/heads.js";
import type { EventBatch, Model, ParameterValues } from "../../../model/index.js";
import { parametersOf } from "../../../model/nn/weights.js";
import { checkFinite } from "../../../model/predictor.js";
import type { ViewedHistory } from "../../../predict/index.js";

/** Lengths are rounded up to these, so that few programs are compiled. */
const shortest = 16;
const roomFor = (slots: number) => 2 ** Math.ceil(Math.log2(Math.max(shortest, slots)));
/** One program per length from 16 to 8,192: requests of at most 5,000 events never evict one. */
const mostPrograms = 10;

/**
 * The vectors of `representations`, for a service: one history per pass, with programs that stay
 * compiled between calls. The caller disposes of it.
 */
export function representer(
	runtime: Runtime,
	model: Model,
	config: unknown,
	weights: ParameterValues,
) {
	const symbols = parametersOf(weights);
	const compiled = programs(
		runtime,
		(length: number) => ({
			outputs: { vector: pooled(model, config, symbols, { rows: 1, length }) },
		}),
		{ most: mostPrograms },
	);
	const resident = runtime.resident(weights);
	const longest = model.context?.(config) ?? Number.POSITIVE_INFINITY;
	return {
		async represent(history: ViewedHistory): Promise<Float32Array> {
			const batch = viewed(history, longest);
			const feeds = pooledFeeds(model, config, batch);
			const { vector } = await compiled.run(batch.length, feeds, resident);
			return checkFinite(vector as Float32Array, "representation of the history");
		},
		async dispose(): Promise<void> {
			resident.dispose();
			await compiled.dispose();
		},
	};
}

/**
 * A row whose last position represents the whole history; the token at that position is not read. A
 * history that is too long is cut to its birth, if known, which gives the age, and its last events.
 */
function viewed({ tokens, times, at }: ViewedHistory, longest: number): EventBatch {
	const births = (tokens[0] ?? specialCount) < specialCount ? 1 : 0;
	const first = Math.max(births, tokens.length + 1 + births - longest);
	const events = births + tokens.length - first;
	const length = roomFor(events + 1);
	const batch = { tokens: new Int32Array(length), times: new Float64Array(length) };
	for (let n = 0; n < events; n++) {
		const from = n < births ? n : first + n - births;
		batch.tokens[n] = tokens[from] as number;
		batch.times[n] = times[from] as number;
	}
	batch.times.fill(at ?? times[tokens.length - 1] ?? 0, events);
	return { ...batch, rows: 1, length, lengths: Int32Array.of(events + 1) };
}
