import { independenceNotes } from "../../../predict/incidence.js";
import {
	answerRisk,
	type IndexRisk,
	indexRisks,
	type RiskModel,
} from "../../../predict/risk/answer.js";
import { indexRiskJson, riskResponse } from "../../../predict/risk/json.js";
import {
	hazardBook,
	readCodes,
	readHorizons,
	readIndexDay,
	readRisk,
} from "../../../predict/risk/question.js";
import { momentJson, nothingRecorded } from "../../../predict/user-input/index.js";
import type { Engine } from "../engine/engine.js";
import { Refusal } from "../http/refusal.js";
import {
	historySummary,
	ofPatient,
	readRequestPatient,
	readRequestPatients,
	refused,
} from "./patient.js";
import {
	mostAttributed,
	mostRiskTimes,
	mostTrajectoryPoints,
	type RiskBatchRequest,
	type RiskRequest,
} from "./requests.js";
import { checkResponseSize } from "./response-size.js";
import type { RiskBatchResponse, RiskResponse } from "./responses.js";
import { populationOf, type ServedModel } from "./served-model.js";

/** Histories per call of the engine, so that other clients get their turn in between. */
const block = 16;

/** The hazards of a model that runs in an engine; refused if it has none. */
const engineModel = (
	{ settings, vocab, longestDays }: ReturnType<typeof hazardBook>,
	{ incidence }: Pick<Engine, "incidence">,
): RiskModel => ({
	settings,
	vocab,
	longestDays,
	async read(histories, codes, days, horizons) {
		const risks = [];
		for (let from = 0; from < histories.length; from += block) {
			const to = from + block;
			risks.push(
				...(await incidence(histories.slice(from, to), codes, days.slice(from, to), horizons)),
			);
		}
		return risks;
	},
});

/** The risks of one patient: after an index day and along the history, and what drove them. */
export async function risk(
	{ patient, attribute, ...question }: RiskRequest,
	served: ServedModel,
	engine: Pick<Engine, "incidence">,
): Promise<RiskResponse> {
	const hazards = hazardBook(served);
	const parsed = readRequestPatient(patient, served);
	const attributed = attribute === undefined ? [] : [attribute];
	const query = refused(() => readRisk(served, parsed, { ...question, attribute: attributed }));
	const { at, times, codes } = query;
	checkTimes(times);
	checkResponseSize({ name: "codes", count: codes.length }, times.length, mostTrajectoryPoints);
	for (const time of query.attributed) checkAttributed(parsed.patient.history.times, time);
	const answers = await answerRisk(engineModel(hazards, engine), query);
	const asked = [at, ...times, ...query.attributed];
	const summary = historySummary(parsed, asked, served, nothingRecorded);
	return {
		...summary,
		warnings: [...summary.warnings, ...query.warnings, ...query.assumptions],
		...riskResponse(query, answers, parsed.places),
	};
}

function checkTimes({ length }: Float64Array): void {
	if (length <= mostRiskTimes) return;
	throw new Refusal(
		422,
		`step makes ${length} times; expected at most ${mostRiskTimes}: choose a longer step, or a shorter range`,
		{ field: "step" },
	);
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

/** Risks within horizons for several patients, in their order. */
export async function riskBatch(
	request: RiskBatchRequest,
	served: ServedModel,
	engine: Pick<Engine, "incidence">,
): Promise<RiskBatchResponse> {
	const hazards = hazardBook(served);
	const codes = refused(() => readCodes(request.codes, hazards.book));
	const perPatient = request.horizons.length;
	const values = { name: "codes", count: codes.length } as const;
	checkResponseSize(values, perPatient, mostTrajectoryPoints, request.patients.length);
	const { horizons, warnings } = refused(() => readHorizons(hazards, request.horizons));
	const patients = readRequestPatients(request.patients, served);
	const indexDays = await Promise.all(
		patients.map((parsed, i) =>
			ofPatient(i, async () => refused(() => readIndexDay(request.at, parsed))),
		),
	);
	const horizonDays = horizons.map(({ days }) => days);
	const risks = await indexRisks(
		engineModel(hazards, engine).read,
		patients.map(({ patient }) => patient.history),
		codes,
		indexDays,
		horizonDays,
	);
	const results = patients.map((parsed, i) => {
		const { birth } = parsed.patient;
		const day = indexDays[i] as number;
		const { events, unknown, warnings } = historySummary(parsed, [day], served, nothingRecorded);
		return {
			events,
			unknown,
			warnings,
			index: momentJson(day, birth, parsed.axis),
			codes: codes.map((code, c) =>
				indexRiskJson(code, risks[i]?.[c] as IndexRisk, birth, parsed.axis),
			),
		};
	});
	return {
		...populationOf(served),
		horizons: horizonDays,
		warnings: [...warnings, ...independenceNotes(hazards, codes)],
		results,
	};
}
