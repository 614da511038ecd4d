import { InputError } from "../base/errors.js";
import type { CodeMap } from "../codes/map.js";
import { type RecordReader, recordReader } from "../cohort/reading/records-to-events.js";
import type { ReadingRules } from "../cohort/reading/rules.js";
import { specialCount, type Token, type Vocabulary } from "../cohort/vocabulary.js";
import { likeliest } from "../infer/likeliest.js";
import { riskOf } from "../infer/risk.js";
import { findCode, momentJson, momentOf, spanDays, timesOf } from "../infer/user-input/index.js";
import type { Events } from "../models/index.js";
import type { Calls } from "./calls.js";
import { type ParsedPatient, type Patient, patientSchema, readPatient } from "./patient.js";

/** A date (`2015-06-01`), a time after the last record (`+6m`) or before it (`-2y`), an age (`age:65`), or a day. */
export type Time = string | number;

/** A length of time: `90d`, `6m`, `5y`, or a number of days. */
export type Horizon = string | number;

export interface Code {
	readonly code: string;
	/** `PheCode`, `ICD10CM`, … */
	readonly system: string | null;
	readonly name: string;
	readonly category: string | null;
}

/** The codes that are most likely at one time. */
export interface Prediction {
	/** The time as it was given. */
	readonly at: Time;
	/** Present if the patient's records have dates. */
	readonly date?: string;
	readonly day: number;
	readonly ageYears: number | null;
	/** The most likely first. A probability is that of the code, given that something is recorded at that time. */
	readonly codes: readonly (Code & { readonly probability: number })[];
}

export interface Forecast {
	readonly predictions: readonly Prediction[];
	/** Why the predictions may be unreliable, such as codes that the model does not know. */
	readonly warnings: readonly string[];
}

export interface CodeRisk {
	/** As the model writes it, or as given if it stands for several codes. */
	readonly code: string;
	readonly name: string;
	/** In the order of the horizons. */
	readonly probabilities: readonly number[];
}

export interface Risk {
	readonly risks: readonly CodeRisk[];
	readonly warnings: readonly string[];
}

export interface ForecastOptions {
	/** Codes per time; 10 if left out. */
	readonly top?: number;
}

/** A trained model that predicts for patients given as dated codes; the same in Node and in the browser. */
export interface LoadedModel {
	/** Name of the architecture, such as `TrajGPT`. */
	readonly name: string;
	/** Label of the runtime that executes it. */
	readonly runtime: string;
	/** Every code it can predict. */
	readonly codes: readonly Code[];
	/**
	 * The most likely codes at each time, from the events before it.
	 *
	 * @example
	 * const { predictions } = await model.forecast(patient, ["+1y", "age:70"], { top: 5 });
	 */
	forecast(patient: Patient, times: readonly Time[], options?: ForecastOptions): Promise<Forecast>;
	/**
	 * For each code and horizon: the probability of the code if something is recorded that long after
	 * the last record. It is not yet the probability that the code is recorded by then.
	 *
	 * @example
	 * const { risks } = await model.risk(patient, ["428", "I50.9"], ["1y", "5y"]);
	 */
	risk(patient: Patient, codes: readonly string[], horizons: readonly Horizon[]): Promise<Risk>;
	/**
	 * One vector per patient: the representation of the history up to its last event.
	 *
	 * @example
	 * const [vector] = await model.embed([patient]);
	 */
	embed(patients: readonly Patient[]): Promise<Float32Array[]>;
	/** The patient as the model reads it: events, unknown codes, notes. */
	read(patient: Patient): ParsedPatient;
	/** The tokens of a code and of all codes below it, as `calls` take them. */
	tokens(code: string): readonly number[];
	/** The low-level calls that the methods above use, with histories as tokens and days. */
	readonly calls: Calls;
	/** Frees the model's memory. It cannot be used afterwards. */
	close(): Promise<void>;
}

/** The parts of a loaded model, in this thread or in a worker. */
export interface ModelParts {
	readonly name: string;
	readonly runtime: string;
	readonly vocabulary: Vocabulary;
	readonly rules: ReadingRules;
	/** Least number of records of a code in the training data. */
	readonly minCount: number;
	/** The map of the dataset; undefined if there is none, or if it is a file that was not given. */
	readonly map: CodeMap | undefined;
	readonly calls: Calls;
	close(): Promise<void>;
}

const shownToken = ({ code, system, name, category }: Token): Code => ({
	...{ code, system, name, category },
});

/** Builds the public methods on a model's calls. */
export function loadedModel(parts: ModelParts): LoadedModel {
	const { vocabulary, rules, map, calls } = parts;
	const reader: RecordReader = recordReader(vocabulary, rules, map);
	const book = {
		...{ vocabulary, map },
		manifest: { codes: { map: rules.map }, filters: { minCount: parts.minCount } },
	};
	const read = (given: Patient, field = "patient") =>
		readPatient(validated(given, field), reader, rules.axis, field);

	return {
		...{ name: parts.name, runtime: parts.runtime, calls, read },
		codes: vocabulary.tokens.slice(specialCount).map(shownToken),
		tokens: (code) => findCode(code, book).tokens,
		close: parts.close,
		async forecast(given, times, { top = 10 } = {}) {
			const parsed = read(given);
			const { patient, axis } = parsed;
			const days = daysOf(times, parsed);
			const predictions = await calls.predict([patient.history], [days]);
			return {
				predictions: days.map((day, query) => ({
					at: times[query] as Time,
					...momentJson(day, patient.birth, axis),
					codes: likeliest(predictions, { top, query }).map(({ token, probability }) => ({
						...shownToken(vocabulary.tokens[token] as Token),
						probability,
					})),
				})),
				warnings: warningsOf(parsed),
			};
		},
		async risk(given, codes, horizons) {
			const parsed = read(given);
			const found = codes.map((code) => findCode(code, book));
			const days = daysOf(horizons.map(afterLast), parsed);
			const predictions = await calls.predict([parsed.patient.history], [days]);
			return {
				risks: found.map(({ code, name, tokens }) => ({
					...{ code, name },
					probabilities: [...riskOf(predictions, 0, tokens)],
				})),
				warnings: [
					...warningsOf(parsed),
					...found.flatMap(({ note }) => (note === undefined ? [] : [note])),
				],
			};
		},
		async embed(patients) {
			const histories: Events[] = patients.map(
				(given, place) => read(given, `patients.${place}`).patient.history,
			);
			if (histories.length === 0) return [];
			const vectors = await calls.represent(histories);
			const dim = vectors.length / histories.length;
			return histories.map((_, at) => vectors.slice(at * dim, (at + 1) * dim));
		},
	};
}

/** `5y` → `+5y`; a number of days → `+…d`. */
const afterLast = (horizon: Horizon): string => {
	const days = typeof horizon === "number" ? horizon : spanDays(horizon);
	if (Number.isFinite(days) && days > 0) return `+${days}d`;
	throw new InputError(`\`horizons\` holds ${horizon}; expected a length of time such as 5y`, {
		field: "horizons",
		value: horizon,
	});
};

const daysOf = (times: readonly Time[], { patient, axis }: ParsedPatient): number[] =>
	timesOf(
		times.map((time) => momentOf(`${time}`)),
		[patient],
		axis,
		"times",
	)[0] ?? [];

function warningsOf({ unknown, notes }: ParsedPatient): string[] {
	const records = unknown.reduce((sum, own) => sum + own.records, 0);
	if (records === 0) return [...notes];
	const codes = unknown.map(({ code }) => code);
	const named = codes.slice(0, 5).join(", ") + (codes.length > 5 ? ", …" : "");
	return [
		...notes,
		`${records} ${records === 1 ? "event has a code" : "events have codes"} that the model does not know: ${named}; left out`,
	];
}

function validated(given: unknown, field: string): Patient {
	const parsed = patientSchema.safeParse(given);
	if (parsed.success) return parsed.data;
	const [issue] = parsed.error.issues;
	const place = [field, ...(issue?.path ?? []).map(String)].join(".");
	throw new InputError(`\`${place}\` ${issue?.message}`, { field: place });
}
