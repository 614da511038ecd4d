import { concatenated } from "../../../base/concatenated.js";
import { type HazardSource, hazardSettingsOf, hazardsIn } from "../../../predict/hazards.js";
import { cutHorizons, independenceNotes } from "../../../predict/incidence.js";
import { attributeIncidence } from "../../../predict/index.js";
import type { ParsedPatient } from "../../../predict/library/patient.js";
import {
	type FoundCode,
	findCode,
	momentJson,
	nothingRecorded,
	UnknownCodeError,
} from "../../../predict/user-input/index.js";
import type { Engine } from "../engine/engine.js";
import { JsonList } from "../http/json-pieces.js";
import { Refusal } from "../http/refusal.js";
import { readRequestPatient } from "./patient.js";
import { historySummary, queryGrid, querySpan, queryTime } from "./query-times.js";
import {
	mostAttributed,
	mostRiskTimes,
	mostTrajectoryPoints,
	type RiskRequest,
} from "./requests.js";
import { checkResponseSize } from "./response-size.js";
import type { RiskResponse } from "./responses.js";
import type { ServedModel } from "./served-model.js";

/** A `RiskResponse` whose lists are already JSON. */
type SerializedRisk = Omit<RiskResponse, "times" | "codes"> & Record<"times" | "codes", JsonList>;

export async function risk(
	request: RiskRequest,
	served: ServedModel,
	model: Pick<Engine, "hazards" | "risk">,
): Promise<SerializedRisk> {
	const own = engineHazards(served, model);
	const parsed = readRequestPatient(request.patient, served);
	const codes = requestedCodes(request.codes, served);
	const times = riskTimes(request, parsed);
	checkResponseSize({ name: "codes", count: codes.length }, times.length, mostTrajectoryPoints);
	const { patient, axis, places } = parsed;
	const { history, birth } = patient;
	const at = queryTime(request.at, parsed, "at");
	const spans = [
		...request.horizons.map((span, place) => querySpan(span, `horizons.${place}`)),
		querySpan(request.horizon, "horizon"),
	];
	const cut = cutHorizons(own, spans);
	const [horizons, horizonDays] = [cut.days.slice(0, -1), cut.days.at(-1) as number];
	const attributed =
		request.attribute === undefined ? undefined : queryTime(request.attribute, parsed, "attribute");
	if (attributed !== undefined) checkAttributed(history.times, attributed);
	const drivers =
		attributed === undefined ? [] : await driversOf(own, codes, attributed, horizonDays, parsed);
	const written = await model.risk({
		...{ history, at, horizons, times, horizonDays, places, birth, axis },
		codes: codes.map((code, i) => ({ ...code, drivers: drivers[i] })),
	});
	const asked = [at, ...times, ...(attributed === undefined ? [] : [attributed])];
	const summary = historySummary(parsed, asked, served, nothingRecorded);
	return {
		...summary,
		warnings: [...summary.warnings, ...cut.warnings, ...independenceNotes(own, codes)],
		index: momentJson(at, birth, axis),
		horizons,
		horizonDays,
		times: new JsonList(written.times),
		codes: new JsonList(written.codes),
	};
}

/** A refusal names an unknown code by its position in the request. */
export function requestedCodes(codes: readonly string[], served: ServedModel): FoundCode[] {
	const { groups } = hazardSettingsOf(served);
	return codes.map((code, place) => {
		try {
			return findCode(code, { ...served, groups });
		} catch (error) {
			if (!(error instanceof UnknownCodeError)) throw error;
			const field = `codes.${place}`;
			throw new Refusal(422, `${field} ${error.problem}`, { field });
		}
	});
}

function riskTimes({ from, to, step }: RiskRequest, parsed: ParsedPatient) {
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
	const events = observed.filter((time) => Math.floor(time) <= Math.floor(at)).length;
	if (events <= mostAttributed) return;
	throw new Refusal(
		422,
		`attribute leaves out each event up to its time in turn, and there are ${events}; expected at most ${mostAttributed}: choose an earlier time, give fewer events, or leave attribute out`,
		{ field: "attribute" },
	);
}

/** Histories per call of the engine, so that other clients get their turn in between. */
const block = 16;

/** The hazards of a model that runs in an engine; refused if it has none. */
export function engineHazards(
	served: ServedModel,
	{ hazards }: Pick<Engine, "hazards">,
): HazardSource {
	const settings = hazardSettingsOf(served);
	const own = {
		...{ settings, vocab: served.vocabulary.size },
		longestDays: settings.binDays.at(-1) as number,
	};
	return {
		...own,
		async at(histories, days) {
			const parts: Float32Array[] = [];
			for (let from = 0; from < histories.length; from += block)
				parts.push(
					await hazards(histories.slice(from, from + block), days.slice(from, from + block)),
				);
			return hazardsIn(own, concatenated(parts));
		},
	};
}

/** For each code, the effect of every event of the request that the model knows. */
async function driversOf(
	model: HazardSource,
	codes: readonly FoundCode[],
	at: number,
	horizonDays: number,
	{ patient, places }: ParsedPatient,
) {
	const risks = codes.map(({ tokens }) => tokens);
	const found = await attributeIncidence(model, patient.history, {
		risks,
		days: [at],
		horizonDays,
	});
	return found.map(({ effect }) =>
		places
			.map((event, i) => ({ event, effect: effect[i] as number }))
			.filter(({ event }) => event >= 0)
			.sort((a, b) => Math.abs(b.effect) - Math.abs(a.effect)),
	);
}
