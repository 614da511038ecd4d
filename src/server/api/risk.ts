import type { ParsedPatient } from "../../api/patient.js";
import { attributeEach } from "../../infer/index.js";
import { type FoundCode, findCode, UnknownCodeError } from "../../infer/user-input/index.js";
import type { Predictor } from "../../models/index.js";
import type { Engine } from "../engine/engine.js";
import { JsonList } from "../http/json-pieces.js";
import { Refusal } from "../http/refusal.js";
import { readRequestPatient } from "./patient.js";
import { historySummary, queryGrid, queryTime, queryTimes } from "./query-times.js";
import { checkResponseSize } from "./response-size.js";
import {
	mostAttributed,
	mostRiskTimes,
	mostTrajectoryPoints,
	type RiskRequest,
	type RiskResponse,
} from "./schemas.js";
import type { ServedModel } from "./served-model.js";

/** A `RiskResponse` whose lists are already JSON. */
type SerializedRisk = Omit<RiskResponse, "times" | "codes"> & Record<"times" | "codes", JsonList>;

export async function risk(
	request: RiskRequest,
	served: ServedModel,
	model: Pick<Engine, "predictor" | "risk">,
): Promise<SerializedRisk> {
	const parsed = readRequestPatient(request.patient, served);
	const codes = request.codes.map((code, place) => requestedCode(code, place, served));
	const times = riskTimes(request, parsed);
	checkResponseSize({ name: "codes", count: codes.length }, times.length, mostTrajectoryPoints);
	const { patient, axis, places } = parsed;
	const { history, birth } = patient;
	const at =
		request.attribute === undefined ? undefined : queryTime(request.attribute, parsed, "attribute");
	if (at !== undefined) checkAttributed(history.times, at);
	const tokens = codes.map((code) => code.tokens);
	const drivers = at === undefined ? [] : await driversOf(model.predictor, tokens, at, parsed);
	const written = await model.risk({
		...{ history, times, places, birth, axis },
		codes: codes.map((code, i) => ({ ...code, drivers: drivers[i] })),
	});
	return {
		...historySummary(parsed, at === undefined ? [...times] : [...times, at], served),
		times: new JsonList(written.times),
		codes: new JsonList(written.codes),
	};
}

/** A refusal names an unknown code by its position in the request. */
function requestedCode(code: string, place: number, served: ServedModel): FoundCode {
	try {
		return findCode(code, served);
	} catch (error) {
		if (!(error instanceof UnknownCodeError)) throw error;
		const field = `codes.${place}`;
		throw new Refusal(422, `${field} ${error.problem}`, { field });
	}
}

function riskTimes({ at, from, to, step }: RiskRequest, parsed: ParsedPatient) {
	if (at !== undefined) {
		const extra = Object.entries({ from, to, step }).find(([, value]) => value !== undefined);
		if (extra)
			throw new Refusal(
				422,
				`${extra[0]} is for equal steps, but at lists the times; give one of them`,
				{
					field: extra[0],
				},
			);
		return Float64Array.from(queryTimes(at, parsed, "at")).sort();
	}
	const times = queryGrid({ from, to, step }, parsed);
	if (times.length > mostRiskTimes)
		throw new Refusal(
			422,
			`step makes ${times.length} times; expected at most ${mostRiskTimes}: choose a longer step, or a shorter range`,
			{ field: "step" },
		);
	return times;
}

function checkAttributed(observed: Float64Array, at: number): void {
	const events = observed.filter((time) => time < at).length;
	if (events <= mostAttributed) return;
	throw new Refusal(
		422,
		`attribute leaves out each event before its time in turn, and there are ${events}; expected at most ${mostAttributed}: choose an earlier time, give fewer events, or leave attribute out`,
		{ field: "attribute" },
	);
}

/** For each risk, the effect of every event of the request that the model knows. */
async function driversOf(
	predictor: Predictor,
	risks: readonly (readonly number[])[],
	at: number,
	{ patient, places }: ParsedPatient,
) {
	const found = await attributeEach(predictor, patient.history, { risks, times: [at] });
	return found.map(({ effect }) =>
		places
			.map((event, i) => ({ event, effect: effect[i] as number }))
			.filter(({ event }) => event >= 0)
			.sort((a, b) => Math.abs(b.effect) - Math.abs(a.effect)),
	);
}
