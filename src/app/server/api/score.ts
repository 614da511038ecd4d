import type { z } from "zod";
import { definitionOf } from "../../../model/train/index.js";
import { knownOn, outsideReason } from "../../../predict/index.js";
import { untunedMessage } from "../../../predict/library/model.js";
import { momentJson, nothingRecorded, readTime } from "../../../predict/user-input/index.js";
import type { Engine } from "../engine/engine.js";
import { Refusal } from "../http/refusal.js";
import { historySummary, readRequestPatient, refused } from "./patient.js";
import type { scoreRequest } from "./requests.js";
import type { ScoreResponse } from "./responses.js";
import type { ServedModel } from "./served-model.js";

export async function score(
	request: z.infer<typeof scoreRequest>,
	served: ServedModel,
	scoreTask: Engine["scoreTask"],
): Promise<ScoreResponse> {
	const { task } = served;
	if (!task) throw new Refusal(422, untunedMessage("serve"));
	const parsed = readRequestPatient(request.patient, served);
	const { history, birth } = parsed.patient;
	const at = refused(() => readTime(request.at, parsed, "at"));
	const known = knownOn(history, at);
	const [probability] = await scoreTask([known]);
	const outside = outsideReason(task.scoring, known);
	const read = historySummary(parsed, [at], served, nothingRecorded);
	return {
		...read,
		warnings: [...read.warnings, ...(outside === undefined ? [] : [outside])],
		...definitionOf(task.scoring),
		at: momentJson(at, birth, parsed.axis),
		probability: probability as number,
	};
}
