import { specialCount } from "../../../data/cohort/vocabulary.js";
import { weightCount } from "../../../model/index.js";
import { definitionOf } from "../../../model/train/index.js";
import type { Limits } from "../limits.js";
import type { ModelResponse } from "./responses.js";
import { populationOf, type ServedModel } from "./served-model.js";

export function describeModel(served: ServedModel, limits: Limits): ModelResponse {
	const { model, config, weights, vocabulary, manifest, step, versions, task } = served;
	const { id, name, cite } = model;
	const { bodyBytes, depth, values, answerBytes, sessions, sessionSeconds, answerMs } = limits;
	return {
		model: { id, name, cite },
		config: config as Record<string, unknown>,
		parameters: weightCount(weights),
		codes: vocabulary.size - specialCount,
		...populationOf(served),
		time: { axis: manifest.source.axis },
		...(task && { task: definitionOf(task.scoring) }),
		trained: { step, versions: { ...versions } },
		limits: { bodyBytes, depth, values, answerBytes, sessions, sessionSeconds, answerMs },
	};
}
