import type { z } from "zod";
import { InputError } from "../../../base/errors.js";
import { simulatedText } from "../../../base/simulated.js";
import { thousands } from "../../../base/thousands.js";
import type { CodeMap } from "../../../data/codes/index.js";
import { recordReader } from "../../../data/cohort/reading/records-to-events.js";
import { readingRules } from "../../../data/cohort/reading/rules.js";
import { specialCount, type Token } from "../../../data/cohort/vocabulary.js";
import { type State, weightCount } from "../../../model/index.js";
import { definitionOf, type Trained } from "../../../model/train/index.js";
import { independenceNotes } from "../../../predict/incidence.js";
import { type ParsedPatient, readKnownPatient } from "../../../predict/library/patient.js";
import {
	answerRisk,
	type IndexRisk,
	indexRiskJson,
	indexRisks,
	type RiskModel,
	riskResponse,
} from "../../../predict/risk/answer.js";
import {
	hazardBook,
	readCodes,
	readHorizons,
	readIndexDay,
	readRisk,
} from "../../../predict/risk/question.js";
import { scoreJson, tunedTask } from "../../../predict/score.js";
import { searchCodes } from "../../../predict/user-input/find-code.js";
import {
	momentJson,
	nothingRecorded,
	readTime,
	readTimes,
	warningsFor,
} from "../../../predict/user-input/moments.js";
import { jsonBytes, listBytes, RawJson } from "../bodies.js";
import type { ModelCalls } from "../engine/engine.js";
import type { Limits } from "../limits.js";
import { Refusal, refusalOf } from "../refusal.js";
import {
	maxAttributed,
	maxForecast,
	maxRiskTimes,
	maxTrajectoryPoints,
	type PatientRequest,
	type RequestOf,
	type routes,
} from "./routes.js";

export interface ServedModel
	extends Pick<Trained, "model" | "config" | "weights" | "manifest" | "vocabulary" | "task"> {
	readonly step: number;
	readonly versions: Readonly<Record<string, string>>;
	/** The map of the dataset; undefined if it is not available. */
	readonly map: CodeMap | undefined;
	readonly simulated?: boolean;
}

export const populationOf = ({ simulated = false }: Pick<ServedModel, "simulated">) => ({
	simulated,
	...(simulated && { population: simulatedText }),
});

type Book = Pick<ServedModel, "vocabulary" | "manifest" | "map">;

/** One reader per request: its cache of codes must not outlive the request. */
export const readerFor = ({ vocabulary, manifest, map }: Book) =>
	recordReader(vocabulary, readingRules(manifest), map);

/** Reads a patient to predict for by the rules of the model's dataset. Refusals name it by its field. */
export const readRequestPatient = (
	request: PatientRequest,
	served: Book,
	field = "patient",
): ParsedPatient =>
	readKnownPatient(request, readerFor(served), served.manifest.source.axis, field);

/** Does something per patient of a batch, for so many at once. Refusals name the patient by its position. */
async function perPatient<Patient, T>(
	patients: readonly Patient[],
	work: (patient: Patient, index: number) => T | Promise<T>,
	atOnce = patients.length,
): Promise<T[]> {
	const named = async (patient: Patient, index: number) => {
		try {
			return await work(patient, index);
		} catch (error) {
			if (!(error instanceof Refusal || error instanceof InputError)) throw error;
			const { status, message, details } = refusalOf(error);
			const field = `patients.${index}`;
			const isNamed = details.field?.startsWith(field);
			throw new Refusal(status, isNamed ? message : `${field}: ${message}`, {
				...details,
				patient: index,
			});
		}
	};
	const results: T[] = [];
	for (let from = 0; from < patients.length; from += atOnce) {
		const block = patients.slice(from, from + atOnce);
		results.push(...(await Promise.all(block.map((patient, i) => named(patient, from + i)))));
	}
	return results;
}

/** The fields of a response that describe the history it is based on. */
export function historySummary(
	{ patient, unknown, notes }: ParsedPatient,
	times: readonly number[],
	{ manifest }: Pick<ServedModel, "manifest">,
	beforeFirst?: string,
	furtherWarnings: readonly string[] = [],
) {
	const records = unknown.reduce((sum, code) => sum + code.records, 0);
	const skipped = `${records} ${records === 1 ? "event has a code" : "events have codes"} that the model does not know: skipped`;
	// Patients in requests have no id.
	const unnamed = { ...patient, id: "the patient" };
	return {
		events: patient.history.tokens.length - patient.history.birthEvents,
		unknown: [...unknown],
		warnings: [
			...notes,
			...(records > 0 ? [skipped] : []),
			...warningsFor(
				{ unknown: { codes: 0, records: 0 } },
				times.map((time) => ({ patient: unnamed, time })),
				manifest,
				beforeFirst,
			),
			...furtherWarnings,
		],
	};
}

export function describeModel(served: ServedModel, limits: Limits) {
	const { model, config, weights, vocabulary, manifest, step, versions, task } = served;
	const { id, name, cite } = model;
	const { bodyBytes, depth, values, answerBytes, sessions, sessionSeconds, answerMs } = limits;
	return {
		model: { id, name, cite },
		config,
		parameters: weightCount(weights),
		codes: vocabulary.size - specialCount,
		time: { axis: manifest.source.axis },
		...(task && { task: definitionOf(task.scoring) }),
		trained: { step, versions },
		limits: { bodyBytes, depth, values, answerBytes, sessions, sessionSeconds, answerMs },
	};
}

export function codes({ search, limit }: z.infer<typeof routes.codes.query>, served: ServedModel) {
	const matches = searchCodes(search, served);
	return {
		found: matches.length,
		codes: matches.slice(0, limit).map(({ at: token, ...match }) => {
			const { code, system, name, category, count } = served.vocabulary.tokens[token] as Token;
			return { code, system, name, category, records: count, ...match };
		}),
	};
}

/** Refuses a request whose response would be too long, before the model computes it. */
function checkResponseSize(
	field: "top" | "codes",
	count: number,
	times: number,
	maxValues: number,
	patients = 1,
): void {
	const values = patients * count * times;
	if (values <= maxValues) return;
	const ofPatients = patients > 1 ? `${patients} patients × ` : "";
	throw new Refusal(
		422,
		`${field}: ${ofPatients}${thousands(times)} times × ${count} codes are ${thousands(values)} values; expected at most ${thousands(maxValues)} in one response: query fewer times or codes, or send several requests`,
		{ field },
	);
}

export const forecast = (
	{ patient, ...request }: RequestOf<"forecast">,
	served: ServedModel,
	model: Pick<ModelCalls, "forecast">,
) => forecastFrom(undefined, request, readRequestPatient(patient, served), served, model);

/** The fields of a forecast's response, with the answers as JSON: from the history, or from a session's state. */
export async function forecastFrom(
	state: State | undefined,
	{ at, top }: RequestOf<"sessionForecast">,
	parsed: ParsedPatient,
	served: ServedModel,
	model: Pick<ModelCalls, "forecast">,
) {
	const { patient, axis } = parsed;
	checkResponseSize("top", top, at.length, maxForecast);
	const times = readTimes(at, parsed, "at");
	const early = state ? times.findIndex((time) => time < (state.times[0] as number)) : -1;
	if (early >= 0)
		throw new Refusal(
			422,
			`at.${early} lies before the session's last event, and a session predicts only later times; use POST forecast with the whole history`,
			{ field: `at.${early}` },
		);
	const of = state ? { state } : { history: patient.history };
	const forecasts = await model.forecast({ of, times, at, top, birth: patient.birth, axis });
	return { ...historySummary(parsed, times, served), answers: new RawJson(forecasts) };
}

const readPatients = (patients: readonly PatientRequest[], served: ServedModel) =>
	perPatient(patients, (patient, i) => readRequestPatient(patient, served, `patients.${i}`));

/** Forecasts that one request computes at a time, so that it does not fill the queue of calls. */
const forecastsAtOnce = 8;

export async function forecastBatch(
	{ patients, ...request }: RequestOf<"forecastBatch">,
	served: ServedModel,
	model: Pick<ModelCalls, "forecast">,
) {
	checkResponseSize("top", request.top, request.at.length, maxForecast, patients.length);
	const parsed = await readPatients(patients, served);
	const results = await perPatient(
		parsed,
		async (patient) => jsonBytes(await forecastFrom(undefined, request, patient, served, model)),
		forecastsAtOnce,
	);
	return { results: new RawJson(listBytes(results)) };
}

/** Histories per call of the engine, so that other clients get their turn in between. */
const historiesPerCall = 16;

/** The hazards of a model that runs in an engine; refused if it has none. */
const engineModel = (
	{ settings, vocab, longestDays }: ReturnType<typeof hazardBook>,
	{ incidence }: Pick<ModelCalls, "incidence">,
): RiskModel => ({
	settings,
	vocab,
	longestDays,
	async read(histories, tokens, days, horizons) {
		const risks = [];
		for (let from = 0; from < histories.length; from += historiesPerCall) {
			const to = from + historiesPerCall;
			risks.push(
				...(await incidence(histories.slice(from, to), tokens, days.slice(from, to), horizons)),
			);
		}
		return risks;
	},
});

/** The risks of one patient: after an index day and along the history, and what drove them. */
export async function risk(
	{ patient, attribute, ...question }: RequestOf<"risk">,
	served: ServedModel,
	model: Pick<ModelCalls, "incidence">,
) {
	const hazards = hazardBook(served);
	const parsed = readRequestPatient(patient, served);
	const query = readRisk(served, parsed, {
		...question,
		attribute: attribute === undefined ? [] : [attribute],
	});
	const { times, attributed } = query;
	if (times.length > maxRiskTimes)
		throw new Refusal(
			422,
			`step makes ${times.length} times; expected at most ${maxRiskTimes}: choose a longer step, or a shorter range`,
			{ field: "step" },
		);
	checkResponseSize("codes", query.codes.length, times.length, maxTrajectoryPoints);
	for (const day of attributed) {
		const events = parsed.patient.history.times.filter(
			(time) => Math.floor(time) <= Math.floor(day),
		).length;
		if (events > maxAttributed)
			throw new Refusal(
				422,
				`attribute leaves out each event up to its time in turn, and there are ${events}; expected at most ${maxAttributed}: choose an earlier time, give fewer events, or leave attribute out`,
				{ field: "attribute" },
			);
	}
	const answers = await answerRisk(engineModel(hazards, model), query);
	const queryDays = [query.at, ...times, ...attributed];
	const warnings = [...query.warnings, ...query.assumptions];
	return {
		...historySummary(parsed, queryDays, served, nothingRecorded, warnings),
		...riskResponse(query, answers, parsed.places),
	};
}

export async function riskBatch(
	request: RequestOf<"riskBatch">,
	served: ServedModel,
	model: Pick<ModelCalls, "incidence">,
) {
	const hazards = hazardBook(served);
	const foundCodes = readCodes(request.codes, hazards.book);
	const { length: patientCount } = request.patients;
	const { length: horizonCount } = request.horizons;
	checkResponseSize("codes", foundCodes.length, horizonCount, maxTrajectoryPoints, patientCount);
	const { horizons, warnings } = readHorizons(hazards, request.horizons);
	const horizonDays = horizons.map(({ days }) => days);
	const patients = await readPatients(request.patients, served);
	const indexDays = await perPatient(patients, (parsed) => readIndexDay(request.at, parsed));
	const risks = await indexRisks(
		engineModel(hazards, model).read,
		patients.map(({ patient }) => patient.history),
		foundCodes,
		indexDays,
		horizonDays,
	);
	return {
		horizons: horizonDays,
		warnings: [...warnings, ...independenceNotes(hazards, foundCodes)],
		results: patients.map((parsed, i) => {
			const { patient, axis } = parsed;
			const day = indexDays[i] as number;
			return {
				...historySummary(parsed, [day], served, nothingRecorded),
				index: momentJson(day, patient.birth, axis),
				codes: foundCodes.map((code, c) =>
					indexRiskJson(code, risks[i]?.[c] as IndexRisk, patient.birth, axis),
				),
			};
		}),
	};
}

export async function score(
	request: RequestOf<"score">,
	served: ServedModel,
	{ scoreTask }: Pick<ModelCalls, "scoreTask">,
) {
	const { scoring } = tunedTask(served.task, "serve");
	const parsed = readRequestPatient(request.patient, served);
	const day = readTime(request.at, parsed, "at");
	const { warnings, ...answer } = await scoreJson(scoreTask, scoring, parsed, day);
	return { ...historySummary(parsed, [day], served, nothingRecorded, warnings), ...answer };
}

export async function embed(
	{ patient, at }: RequestOf<"embed">,
	served: ServedModel,
	{ represent }: Pick<ModelCalls, "represent">,
) {
	const parsed = readRequestPatient(patient, served);
	const { tokens, times } = parsed.patient.history;
	const day = at === undefined ? undefined : readTime(at, parsed, "at");
	const events = day === undefined ? times.length : times.filter((time) => time <= day).length;
	const view = {
		tokens: tokens.subarray(0, events),
		times: times.subarray(0, events),
		...(day !== undefined && { at: day }),
	};
	const summary = historySummary(parsed, day === undefined ? [] : [day], served);
	return { ...summary, vector: [...(await represent([view]))] };
}
