import { InputError } from "../base/errors.js";
import { type CallByName, callsByName } from "../base/worker-calls.js";
import type { Token } from "../cohort/vocabulary.js";
import type { ExportManifest } from "../export/manifest.js";
import type { Export } from "../export/read-export.js";
import {
	answersAt,
	attribute,
	representations,
	riskTrajectories,
	sampleFutures,
	whatIf,
} from "../infer/index.js";
import { finitePredictor } from "../models/finite.js";
import type { Model, Predictor } from "../models/index.js";
import { trajgpt } from "../models/trajgpt/index.js";
import type { Runtime } from "../runtime/index.js";
import type { WebDevice } from "../runtime/web.js";
import type { Source } from "./source.js";

/** What the worker needs to open a model. */
export interface OpenRequest {
	readonly source: Source;
	readonly device: WebDevice | undefined;
	readonly threads: number | undefined;
	readonly files: string;
}

/** What a page is told of a model that was opened. */
export interface Opened {
	readonly manifest: ExportManifest;
	readonly tokens: readonly Token[];
	/** What executes, in words. */
	readonly runtime: string;
}

type Rest<F> = F extends (first: Predictor, ...rest: infer R) => infer T
	? (...rest: R) => T
	: never;

/** What can be asked of a model, wherever it runs: arguments and results can be sent to a worker and back. */
export interface Calls extends Pick<Predictor, "observe" | "ask" | "advance" | "queryWithin"> {
	start(patients: number): Promise<ReturnType<Predictor["start"]>>;
	select(...values: Parameters<Predictor["select"]>): Promise<ReturnType<Predictor["select"]>>;
	answers: Rest<typeof answersAt>;
	risk: Rest<typeof riskTrajectories>;
	attribute: Rest<typeof attribute>;
	whatIf: Rest<typeof whatIf>;
	futures: Rest<typeof sampleFutures>;
	/** A vector for each history: [histories, dim]. */
	represent(histories: Parameters<typeof representations>[2]): Promise<Float32Array>;
}

const callNames = [
	"start",
	"select",
	"observe",
	"ask",
	"advance",
	"queryWithin",
	"answers",
	"risk",
	"attribute",
	"whatIf",
	"futures",
	"represent",
] as const;

/** The calls, made by their names wherever the model runs. */
export const callsThrough = (call: CallByName): Calls =>
	callsByName<Calls, (typeof callNames)[number]>(callNames, call);

export interface Running {
	readonly opened: Opened;
	readonly calls: Calls;
	dispose(): Promise<void>;
}

/** The same graphs and the same questions as in Node, on a runtime of a browser. */
export function running(
	runtime: Runtime,
	device: WebDevice,
	{ manifest, config, weights, vocabulary }: Export,
): Running {
	const predictor = finitePredictor(trajgpt.predictor(runtime, config, weights));
	const model = trajgpt as unknown as Model;
	return {
		opened: { manifest, tokens: vocabulary.tokens, runtime: runtime.label },
		calls: {
			start: async (patients) => predictor.start(patients),
			select: async (...values) => predictor.select(...values),
			observe: predictor.observe,
			ask: predictor.ask,
			advance: predictor.advance,
			queryWithin: predictor.queryWithin,
			answers: (...rest) => answersAt(predictor, ...rest),
			risk: (...rest) => riskTrajectories(predictor, ...rest),
			attribute: (...rest) => attribute(predictor, ...rest),
			whatIf: (...rest) => whatIf(predictor, ...rest),
			futures: (...rest) => sampleFutures(predictor, ...rest),
			represent: async (histories) => {
				if (device === "webgpu")
					throw new InputError(
						'vectors need times in float64, which WebGPU has not; open the model without device: "webgpu"',
					);
				return representations(runtime, { model, config, weights }, histories);
			},
		},
		dispose: predictor.dispose,
	};
}
