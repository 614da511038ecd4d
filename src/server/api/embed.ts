import type { z } from "zod";
import type { ViewedHistory } from "../../infer/index.js";
import { askedTime, readOf } from "./asked-times.js";
import { askedPatient } from "./patient.js";
import type { EmbedResponse, embedRequest } from "./schemas.js";
import type { Served } from "./served.js";

export async function embed(
	{ patient: given, at }: z.infer<typeof embedRequest>,
	served: Served,
	represent: (histories: readonly ViewedHistory[]) => Promise<Float32Array>,
): Promise<EmbedResponse> {
	const asked = askedPatient(given, served);
	const { history } = asked.patient;
	const times = at === undefined ? [] : [askedTime(at, asked, "at")];
	const [look] = times;
	const seen = look === undefined ? history.times.length : countUpTo(history.times, look);
	const view = {
		tokens: history.tokens.subarray(0, seen),
		times: history.times.subarray(0, seen),
		...(look !== undefined && { at: look }),
	};
	return { ...readOf(asked, times, served), vector: [...(await represent([view]))] };
}

const countUpTo = (times: Float64Array, time: number) =>
	times.reduce((count, own) => count + (own <= time ? 1 : 0), 0);
