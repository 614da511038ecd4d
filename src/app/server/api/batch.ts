import {
	cutHorizons,
	type Incidence,
	incidences,
	independenceNotes,
} from "../../../predict/incidence.js";
import type { ParsedPatient } from "../../../predict/library/patient.js";
import { momentJson, nothingRecorded } from "../../../predict/user-input/index.js";
import type { Engine } from "../engine/engine.js";
import { JsonList, joinPieces, jsonPieces } from "../http/json-pieces.js";
import { Refusal } from "../http/refusal.js";
import { forecastFrom } from "./forecast.js";
import { readRequestPatient } from "./patient.js";
import { historySummary, querySpan, queryTime } from "./query-times.js";
import {
	type ForecastBatchRequest,
	mostForecast,
	mostTrajectoryPoints,
	type PatientRequest,
	type RiskBatchRequest,
} from "./requests.js";
import { checkResponseSize } from "./response-size.js";
import type { RiskBatchResponse } from "./responses.js";
import { engineHazards, requestedCodes } from "./risk.js";
import { populationOf, type ServedModel } from "./served-model.js";

/** Forecasts that one request computes at a time, so that it does not fill the queue of calls. */
const together = 8;

/** Forecasts for several patients, in their order. */
export async function forecastBatch(
	{ patients, ...request }: ForecastBatchRequest,
	served: ServedModel,
	model: Pick<Engine, "forecast">,
) {
	const values = { name: "top", count: request.top } as const;
	checkResponseSize(values, request.at.length, mostForecast, patients.length);
	const parsed = readPatients(patients, served);
	const results: Uint8Array[][] = [];
	for (let first = 0; first < parsed.length; first += together)
		results.push(
			...(await Promise.all(
				parsed.slice(first, first + together).map((own, i) =>
					ofPatient(first + i, async () => {
						const found = await forecastFrom(undefined, request, own, served, model);
						const { simulated: _, population: __, ...result } = found;
						return jsonPieces(result, Number.POSITIVE_INFINITY);
					}),
				),
			)),
		);
	return { ...populationOf(served), results: new JsonList(joinPieces(results)) };
}

/** Risks within horizons for several patients, in their order. */
export async function riskBatch(
	request: RiskBatchRequest,
	served: ServedModel,
	model: Pick<Engine, "hazards">,
): Promise<RiskBatchResponse> {
	const source = engineHazards(served, model);
	const codes = requestedCodes(request.codes, served);
	const values = { name: "codes", count: codes.length } as const;
	checkResponseSize(values, request.horizons.length, mostTrajectoryPoints, request.patients.length);
	const spans = request.horizons.map((span, place) => querySpan(span, `horizons.${place}`));
	const { days: horizons, warnings: cut } = cutHorizons(source, spans);
	const parsed = readPatients(request.patients, served);
	const days = await Promise.all(
		parsed.map((own, i) => ofPatient(i, async () => queryTime(request.at, own, "at"))),
	);
	const found = await incidences(
		source,
		parsed.map(({ patient }) => patient.history),
		codes.map(({ tokens }) => tokens),
		days.map((day) => [day]),
		horizons,
	);
	const results = parsed.map((own, i) => {
		const { birth } = own.patient;
		const day = days[i] as number;
		const {
			simulated: _,
			population: __,
			...read
		} = historySummary(...([own, [day], served, nothingRecorded] as const));
		return {
			...read,
			index: momentJson(day, birth, own.axis),
			codes: codes.map(({ code, name, note }, c) => {
				const { probabilities, recordedAt } = (found[i] as Incidence[])[c] as Incidence;
				const recorded = recordedAt[0] as number;
				return {
					...{ code, name },
					...(note !== undefined && { note }),
					recorded: Number.isNaN(recorded) ? null : momentJson(recorded, birth, own.axis),
					probabilities: [...probabilities],
				};
			}),
		};
	});
	const warnings = [...cut, ...independenceNotes(source, codes)];
	return { ...populationOf(served), horizons, warnings, results };
}

const readPatients = (given: readonly PatientRequest[], served: ServedModel): ParsedPatient[] =>
	given.map((patient, i) => {
		const field = `patients.${i}`;
		try {
			return readRequestPatient(patient, served, field);
		} catch (error) {
			throw inBatch(error, i);
		}
	});

/** Refusals of one patient name it by its position. */
const ofPatient = <T>(place: number, work: () => Promise<T>): Promise<T> =>
	work().catch((error) => {
		throw inBatch(error, place);
	});

function inBatch(error: unknown, place: number): unknown {
	if (!(error instanceof Refusal)) return error;
	const { status, message, details } = error;
	const own = `patients.${place}`;
	const isNamed = details.field?.startsWith(own);
	return new Refusal(status, isNamed ? message : `${own}: ${message}`, {
		...details,
		patient: place,
	});
}
