import type { z } from "zod";
import { scoreJson, tunedTask } from "../../../predict/score.js";
import { nothingRecorded, readTime } from "../../../predict/user-input/index.js";
import type { Engine } from "../engine/engine.js";
import { historySummary, readRequestPatient, refused } from "./patient.js";
import type { scoreRequest } from "./requests.js";
import type { ScoreResponse } from "./responses.js";
import type { ServedModel } from "./served-model.js";

export async function score(
	request: z.infer<typeof scoreRequest>,
	served: ServedModel,
	scoreTask: Engine["scoreTask"],
): Promise<ScoreResponse> {
	const { scoring } = tunedTask(served.task, "serve");
	const parsed = readRequestPatient(request.patient, served);
	const day = refused(() => readTime(request.at, parsed, "at"));
	const { warnings, ...answer } = await scoreJson(scoreTask, scoring, parsed, day);
	const summary = historySummary(parsed, [day], served, nothingRecorded);
	return { ...summary, warnings: [...summary.warnings, ...warnings], ...answer };
}
