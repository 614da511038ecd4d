import type { z } from "zod";
import type { ViewedHistory } from "../../../predict/index.js";
import { readTime } from "../../../predict/user-input/index.js";
import { historySummary, readRequestPatient, refused } from "./patient.js";
import type { embedRequest } from "./requests.js";
import type { EmbedResponse } from "./responses.js";
import type { ServedModel } from "./served-model.js";

export async function embed(
	{ patient: given, at }: z.infer<typeof embedRequest>,
	served: ServedModel,
	represent: (histories: readonly ViewedHistory[]) => Promise<Float32Array>,
): Promise<EmbedResponse> {
	const parsed = readRequestPatient(given, served);
	const { history } = parsed.patient;
	const times = at === undefined ? [] : [refused(() => readTime(at, parsed, "at"))];
	const [look] = times;
	const seen = look === undefined ? history.times.length : countUntil(history.times, look);
	const view = {
		tokens: history.tokens.subarray(0, seen),
		times: history.times.subarray(0, seen),
		...(look !== undefined && { at: look }),
	};
	return { ...historySummary(parsed, times, served), vector: [...(await represent([view]))] };
}

const countUntil = (times: Float64Array, time: number) =>
	times.reduce((count, own) => count + (own <= time ? 1 : 0), 0);
