import { InputError } from "../../base/errors.js";
import type { CodeMap } from "../../data/codes/map.js";
import { type RecordReader, recordReader } from "../../data/cohort/reading/records-to-events.js";
import type { ReadingRules } from "../../data/cohort/reading/rules.js";
import { specialCount, type Token, type Vocabulary } from "../../data/cohort/vocabulary.js";
import type { CodeConfig } from "../../model/heads.js";
import type { Events } from "../../model/index.js";
import { definitionOf, type Scoring } from "../../model/train/finetune/classifier.js";
import { likeliest } from "../code-probabilities.js";
import { likelyJson } from "../forecast/text.js";
import { futureRules } from "../futures.js";
import { hazardSettingsOf } from "../hazards.js";
import { answerRisk } from "../risk/answer.js";
import { indexRiskJson } from "../risk/json.js";
import { hazardBook, readRisk } from "../risk/question.js";
import { scoreJson, tunedTask } from "../score.js";
import {
	findCode,
	lastRecord,
	momentJson,
	readSpan,
	readTime,
	readTimes,
} from "../user-input/index.js";
import type { Calls } from "./calls.js";
import {
	type ParsedPatient,
	type Patient,
	patientSchema,
	readKnownPatient,
	readPatient,
} from "./patient.js";

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

/** What every answer says beside its numbers. */
export interface Answer {
	/** "simulated population, not real people" if the model has learned from such; null if from records. */
	readonly population: string | null;
	/** Why the numbers may be unreliable, such as codes that the model does not know. */
	readonly warnings: readonly string[];
}

export interface Forecast extends Answer {
	readonly predictions: readonly Prediction[];
}

/** A time with the date, if the patient's records have dates, and the age in years, if the birth is known. */
export interface WhenRecorded {
	readonly date?: string;
	readonly day: number;
	readonly ageYears: number | null;
}

/** The probability that a code is recorded within each horizon after the index day. */
export interface CodeRisk {
	/** As the model writes it, or as given if it stands for several codes. */
	readonly code: string;
	readonly name: string;
	/**
	 * The first record up to the index day; the probabilities are then those of another record. Null if there is none:
	 * they are those of the first record.
	 */
	readonly recorded: WhenRecorded | null;
	/** In the order of the horizons. */
	readonly probabilities: readonly number[];
}

export interface Risk extends Answer {
	/** The index day, whose records are known. */
	readonly at: WhenRecorded;
	readonly risks: readonly CodeRisk[];
}

/** The task that a model was fine-tuned to. */
export interface Task {
	readonly task: string;
	/** What the probability is of. */
	readonly definition: string;
	/** Where that is defined, such as `built-in task diabetes`, `ACES file mine.yaml`, `labels file stroke.csv`. */
	readonly source: string | null;
	/** Days after the prediction within which the label is decided; null if that is not fixed. */
	readonly horizonDays: number | null;
	/** The share of positives among the training labels. */
	readonly prevalence: number;
}

/** The probability of the label that a model was fine-tuned to. */
export interface Score extends Task, Answer {
	/** The day of the prediction, whose records are known. */
	readonly at: WhenRecorded;
	readonly probability: number;
}

/** One sampled future: what is recorded after the index day, and when. */
export interface Future {
	/** In order. */
	readonly records: readonly (Code & WhenRecorded)[];
	/** Null if the patient lives on. */
	readonly death: WhenRecorded | null;
}

export interface Futures extends Answer {
	/** The index day, whose records are known. */
	readonly at: WhenRecorded;
	readonly futures: readonly Future[];
}

export interface FuturesOptions {
	/** Number of futures; 100 if left out. */
	readonly samples?: number;
	/** The same seed gives the same futures; 0 if left out. */
	readonly seed?: number;
	/** The index day; the last record if left out. */
	readonly at?: Time;
}

export interface ForecastOptions {
	/** Codes per time; 10 if left out. */
	readonly top?: number;
}

export interface RiskOptions {
	/** The index day; the last record if left out. */
	readonly at?: Time;
}

export interface ScoreOptions {
	/** The day of the prediction; the last record if left out. */
	readonly at?: Time;
}

/**
 * A trained model that predicts for patients given as dated codes; the same in Node and in the browser. Every method
 * that predicts refuses a patient without a record whose code the model knows.
 */
export interface LoadedModel {
	/** Name of the architecture, such as `TrajGPT`. */
	readonly name: string;
	/** Label of the runtime that executes it. */
	readonly runtime: string;
	/** Every code it can predict. */
	readonly codes: readonly Code[];
	/** The task it was fine-tuned to; null for a run without one. */
	readonly task: Task | null;
	/** "simulated population, not real people" if it has learned from such; null if from records. */
	readonly population: string | null;
	/**
	 * The most likely codes at each time, from the events before it.
	 *
	 * @example
	 * const { predictions } = await model.forecast(patient, ["+1y", "age:70"], { top: 5 });
	 */
	forecast(patient: Patient, times: readonly Time[], options?: ForecastOptions): Promise<Forecast>;
	/**
	 * The cumulative incidence of codes: the probability that each is recorded within each horizon after the index day,
	 * given the records up to that day, with death as a competing event. It is the first record or, where a code is
	 * recorded already (`recorded`), another one. Names of the model's groups are accepted as codes: the first record
	 * of any member. A horizon beyond what the model has learned is answered to its limit, with a warning. A model
	 * without hazards is refused.
	 *
	 * @example
	 * const { risks } = await model.risk(patient, ["428", "I50.9"], ["1y", "5y"]);
	 * const atSixty = await model.risk(patient, ["428"], ["5y"], { at: "age:60" });
	 */
	risk(
		patient: Patient,
		codes: readonly string[],
		horizons: readonly Horizon[],
		options?: RiskOptions,
	): Promise<Risk>;
	/**
	 * Whole sampled futures after the index day, up to a horizon or death: visits with their dates and codes. A model
	 * without hazards is refused.
	 *
	 * @example
	 * const { futures } = await model.futures(patient, "5y", { samples: 100, seed: 1 });
	 */
	futures(patient: Patient, horizon: Horizon, options?: FuturesOptions): Promise<Futures>;
	/**
	 * The probability of the label of `task`, from the records up to a day. A model that was not fine-tuned is refused:
	 * load `tasks/<task>` in the folder of a run, or an export of it.
	 *
	 * @example
	 * const model = await loadModel("runs/first/tasks/insulin");
	 * const { probability, definition } = await model.score(patient);
	 */
	score(patient: Patient, options?: ScoreOptions): Promise<Score>;
	/**
	 * One vector per patient: the representation of the history up to its last event.
	 *
	 * @example
	 * const [vector] = await model.embed([patient]);
	 */
	embed(patients: readonly Patient[]): Promise<Float32Array[]>;
	/** The patient as the model reads it, even one without a known record: events, unknown codes, notes. */
	read(patient: Patient): ParsedPatient;
	/** The tokens of a code and of all codes below it, as `calls` take them. */
	tokens(code: string): readonly number[];
	/**
	 * The low-level calls that the methods above use, with histories as tokens and days. `incidence` and its kin give
	 * risks; `predict` and `codeProbabilities` give the probability of codes if something is recorded at a time.
	 */
	readonly calls: Calls;
	/** Frees the model's memory. It cannot be used afterwards. */
	close(): Promise<void>;
}

/** The parts of a loaded model, in this thread or in a worker. */
export interface ModelParts {
	readonly name: string;
	readonly runtime: string;
	/** The model's settings. */
	readonly config: unknown;
	readonly vocabulary: Vocabulary;
	readonly rules: ReadingRules;
	/** Least number of records of a code in the training data. */
	readonly minCount: number;
	/** The map of the dataset; undefined if there is none, or if it is a file that was not given. */
	readonly map: CodeMap | undefined;
	/** The task it was fine-tuned to, if any. */
	readonly scoring?: Scoring | undefined;
	/** That the population it has learned from is simulated, if so. */
	readonly population?: string | undefined;
	readonly calls: Calls;
	close(): Promise<void>;
}

const shownToken = ({ code, system, name, category }: Token): Code => ({
	code,
	system,
	name,
	category,
});

/** Builds the public methods on a model's calls. */
export function loadedModel(parts: ModelParts): LoadedModel {
	const { vocabulary, rules, map, calls, scoring, population = null } = parts;
	const task: Task | null = scoring ? definitionOf(scoring) : null;
	const reader: RecordReader = recordReader(vocabulary, rules, map);
	const { groups = [] } = (parts.config as CodeConfig).hazards ?? {};
	const book = {
		vocabulary,
		map,
		groups,
		config: parts.config,
		manifest: { codes: { map: rules.map }, filters: { minCount: parts.minCount } },
	};
	const toPredict = (given: Patient, field = "patient") =>
		readKnownPatient(validated(given, field), reader, rules.axis, field);

	return {
		name: parts.name,
		runtime: parts.runtime,
		task,
		population,
		calls,
		read: (given) => readPatient(validated(given, "patient"), reader, rules.axis),
		codes: vocabulary.tokens.slice(specialCount).map(shownToken),
		tokens: (code) => findCode(code, book).tokens,
		close: parts.close,
		async forecast(given, times, { top = 10 } = {}) {
			const parsed = toPredict(given);
			const { patient, axis } = parsed;
			const days = readTimes(times, parsed, "times");
			const predictions = await calls.predict([patient.history], [days]);
			return {
				population,
				predictions: days.map((day, query) => ({
					at: times[query] as Time,
					...momentJson(day, patient.birth, axis),
					codes: likeliest(predictions, { top, query }).map((likely) =>
						likelyJson(likely, vocabulary),
					),
				})),
				warnings: warningsOf(parsed),
			};
		},
		async risk(given, codes, horizons, { at } = {}) {
			const hazards = hazardBook(book);
			const parsed = toPredict(given);
			const query = readRisk(book, parsed, { codes, horizons, at, trajectory: false });
			const answers = await answerRisk({ ...hazards, read: calls.incidence }, query);
			const { birth } = parsed.patient;
			return {
				population,
				at: momentJson(query.at, birth, parsed.axis),
				risks: answers.map(({ code: { code, name }, index }) =>
					indexRiskJson({ code, name }, index, birth, parsed.axis),
				),
				warnings: [...warningsOf(parsed), ...query.warnings, ...query.notes, ...query.assumptions],
			};
		},
		async futures(given, horizon, { samples = 100, seed = 0, at = lastRecord } = {}) {
			hazardSettingsOf(parts);
			const parsed = toPredict(given);
			const { patient, axis } = parsed;
			const index = readTime(at, parsed, "at");
			const [drawn = []] = await calls.drawFutures([patient.history], [index], {
				samples,
				seed,
				days: readSpan(horizon, "horizon"),
				...futureRules(vocabulary, rules.dedup),
			});
			const when = (day: number) => momentJson(day, patient.birth, axis);
			return {
				population,
				at: when(index),
				futures: drawn.map(({ tokens, times, death }) => ({
					records: Array.from(tokens, (token, n) => ({
						...shownToken(vocabulary.tokens[token] as Token),
						...when(times[n] as number),
					})),
					death: death === null ? null : when(death),
				})),
				warnings: warningsOf(parsed),
			};
		},
		async score(given, { at = lastRecord } = {}) {
			const tuned = tunedTask(scoring, "load");
			const parsed = toPredict(given);
			const day = readTime(at, parsed, "at");
			const answer = await scoreJson(calls.scoreTask, tuned, parsed, day);
			const { at: when, probability, warnings, ...definition } = answer;
			return {
				...definition,
				population,
				at: when,
				probability,
				warnings: [...warningsOf(parsed), ...warnings],
			};
		},
		async embed(patients) {
			const histories: Events[] = patients.map(
				(given, place) => toPredict(given, `patients.${place}`).patient.history,
			);
			if (histories.length === 0) return [];
			const vectors = await calls.represent(histories);
			const dim = vectors.length / histories.length;
			return histories.map((_, at) => vectors.slice(at * dim, (at + 1) * dim));
		},
	};
}

function warningsOf({ unknown, notes }: ParsedPatient): string[] {
	const records = unknown.reduce((sum, code) => sum + code.records, 0);
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
