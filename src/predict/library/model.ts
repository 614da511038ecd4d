import { InputError } from "../../base/errors.js";
import { builtInMap } from "../../data/codes/built-in.js";
import type { CodeMap } from "../../data/codes/map.js";
import { recordReader } from "../../data/cohort/reading/records-to-events.js";
import { fromTokens, specialCount, type Token } from "../../data/cohort/vocabulary.js";
import type { CodeConfig } from "../../model/heads.js";
import { definitionOf, type Scoring } from "../../model/train/finetune/classifier.js";
import type { Calls } from "../calls.js";
import { likeliest } from "../code-probabilities.js";
import type { ExportManifest } from "../export/manifest.js";
import { likelyJson } from "../forecast-text.js";
import { futureRules } from "../futures.js";
import { hazardSettingsOf } from "../hazards.js";
import { answerRisk, indexRiskJson } from "../risk/answer.js";
import { hazardBook, readRisk } from "../risk/question.js";
import { scoreJson, tunedTask } from "../score.js";
import { findCode } from "../user-input/find-code.js";
import { lastRecord, momentJson, readSpan, readTime, readTimes } from "../user-input/moments.js";
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

/** A time with the date, if the patient's records have dates, and the age in years, if the birth is known. */
export type WhenRecorded = ReturnType<typeof momentJson>;

/**
 * A trained model that predicts for patients given as dated codes; the same in Node and in the browser. Every method
 * that predicts refuses a patient without a record whose code the model knows.
 */
export type LoadedModel = ReturnType<typeof loadedModel>;
/** A code of the model. */
export type Code = LoadedModel["codes"][number];
/** The task that a model was fine-tuned to. */
export type Task = NonNullable<LoadedModel["task"]>;
export type Forecast = Awaited<ReturnType<LoadedModel["forecast"]>>;
/** The codes that are most likely at one time. */
export type Prediction = Forecast["predictions"][number];
export type Risk = Awaited<ReturnType<LoadedModel["risk"]>>;
/** The probability that a code is recorded within each horizon after the index day. */
export type CodeRisk = Risk["risks"][number];
export type Futures = Awaited<ReturnType<LoadedModel["futures"]>>;
/** One sampled future: what is recorded after the index day, and when. */
export type Future = Futures["futures"][number];
/** The probability of the label that a model was fine-tuned to. */
export type Score = Awaited<ReturnType<LoadedModel["score"]>>;

/** What predictions need to know of a model: of an export, `export.json` says it. */
interface ModelDescription extends Pick<ExportManifest, "records"> {
	/** That the population it has learned from is simulated, if so. */
	readonly population?: string | undefined;
	readonly model: Pick<ExportManifest["model"], "name">;
	/** The model's settings. */
	readonly config: unknown;
	/** The task it was fine-tuned to, if any. */
	readonly task?: { readonly scoring: Scoring } | undefined;
}

/** An opened model, in this thread or in a worker. */
export interface OpenedModel {
	readonly manifest: ModelDescription;
	readonly tokens: readonly Token[];
	/** Label of the runtime that executes it. */
	readonly runtime: string;
}

const shownToken = ({ code, system, name, category }: Token) => ({
	code,
	/** `PheCode`, `ICD10CM`, … */
	system,
	name,
	category,
});

/**
 * Builds the public methods on a model's calls. `map` is the ICD map that the dataset was prepared with, if it came from
 * a file.
 */
export function loadedModel(
	{ manifest, tokens, runtime }: OpenedModel,
	{ calls, close }: { readonly calls: Calls; close(): Promise<void> },
	map?: CodeMap,
) {
	const { config, records: rules, population = null } = manifest;
	const scoring = manifest.task?.scoring;
	const vocabulary = fromTokens(tokens);
	const builtIn = builtInMap();
	const book = {
		vocabulary,
		map: map ?? (rules.map === builtIn.source ? builtIn : undefined),
		groups: (config as CodeConfig).hazards?.groups ?? [],
		config,
		manifest: { codes: rules, filters: rules },
	};
	const reader = recordReader(vocabulary, rules, book.map);
	const toPredict = (given: Patient, field = "patient") =>
		readKnownPatient(validated(given, field), reader, rules.axis, field);
	/** What every answer says beside its numbers. */
	const about = (parsed: ParsedPatient, warnings: readonly string[] = []) => ({
		/** "simulated population, not real people" if the model has learned from such; null if from records. */
		population,
		/** Why the numbers may be unreliable, such as codes that the model does not know. */
		warnings: [...warningsOf(parsed), ...warnings],
	});

	return {
		/** Name of the architecture, such as `TrajGPT`. */
		name: manifest.model.name,
		/** Label of the runtime that executes it. */
		runtime,
		/** Every code it can predict. */
		codes: vocabulary.tokens.slice(specialCount).map(shownToken),
		/** The task it was fine-tuned to; null for a run without one. */
		task: scoring ? definitionOf(scoring) : null,
		/** "simulated population, not real people" if it has learned from such; null if from records. */
		population,
		/**
		 * The most likely codes at each time, from the events before it; 10 per time unless `top` is given. A probability
		 * is that of the code, given that something is recorded at that time.
		 *
		 * @example
		 * const { predictions } = await model.forecast(patient, ["+1y", "age:70"], { top: 5 });
		 */
		async forecast(
			patient: Patient,
			times: readonly Time[],
			{ top = 10 }: { readonly top?: number } = {},
		) {
			const parsed = toPredict(patient);
			const { history, birth } = parsed.patient;
			const days = readTimes(times, parsed, "times");
			const predictions = await calls.predict([history], [days]);
			return {
				...about(parsed),
				predictions: days.map((day, query) => ({
					/** The time as it was given. */
					at: times[query],
					...momentJson(day, birth, parsed.axis),
					/** The most likely first. */
					codes: likeliest(predictions, { top, query }).map((likely) =>
						likelyJson(likely, vocabulary),
					),
				})),
			};
		},
		/**
		 * The cumulative incidence of codes: the probability that each is recorded within each horizon after the index day
		 * `at` (by default the last record), given the records up to that day, with death as a competing event. It is the
		 * first record or, where a code is recorded already (`recorded`), another one. Names of the model's groups are
		 * accepted as codes: the first record of any member. A horizon beyond what the model has learned is answered to its
		 * limit, with a warning. A model without hazards is refused.
		 *
		 * @example
		 * const { risks } = await model.risk(patient, ["428", "I50.9"], ["1y", "5y"]);
		 * const atSixty = await model.risk(patient, ["428"], ["5y"], { at: "age:60" });
		 */
		async risk(
			patient: Patient,
			codes: readonly string[],
			horizons: readonly Horizon[],
			{ at }: { readonly at?: Time } = {},
		) {
			const hazards = hazardBook(book);
			const parsed = toPredict(patient);
			const query = readRisk(book, parsed, { codes, horizons, at, trajectory: false });
			const answers = await answerRisk({ ...hazards, read: calls.incidence }, query);
			const { birth } = parsed.patient;
			return {
				...about(parsed, [...query.warnings, ...query.notes, ...query.assumptions]),
				/** The index day, whose records are known. */
				at: momentJson(query.at, birth, parsed.axis),
				risks: answers.map(({ code: { code, name }, index }) =>
					indexRiskJson({ code, name }, index, birth, parsed.axis),
				),
			};
		},
		/**
		 * Whole sampled futures after the index day `at` (by default the last record), up to a horizon or death: visits with
		 * their dates and codes. The same `seed` gives the same futures. A model without hazards is refused.
		 *
		 * @example
		 * const { futures } = await model.futures(patient, "5y", { samples: 100, seed: 1 });
		 */
		async futures(
			patient: Patient,
			horizon: Horizon,
			{
				samples = 100,
				seed = 0,
				at = lastRecord,
			}: { readonly samples?: number; readonly seed?: number; readonly at?: Time } = {},
		) {
			hazardSettingsOf(book);
			const parsed = toPredict(patient);
			const { history, birth } = parsed.patient;
			const index = readTime(at, parsed, "at");
			const [drawn = []] = await calls.drawFutures([history], [index], {
				samples,
				seed,
				days: readSpan(horizon, "horizon"),
				...futureRules(vocabulary, rules.dedup),
			});
			const when = (day: number) => momentJson(day, birth, parsed.axis);
			return {
				...about(parsed),
				/** The index day, whose records are known. */
				at: when(index),
				futures: drawn.map(({ tokens, times, death }) => ({
					/** In order. */
					records: Array.from(tokens, (token, n) => ({
						...shownToken(vocabulary.tokens[token]),
						...when(times[n]),
					})),
					/** Null if the patient lives on. */
					death: death === null ? null : when(death),
				})),
			};
		},
		/**
		 * The probability of the label of `task`, from the records up to the day `at` (by default the last record). A model
		 * that was not fine-tuned is refused: load `tasks/<task>` in the folder of a run, or an export of it.
		 *
		 * @example
		 * const model = await loadModel("runs/first/tasks/insulin");
		 * const { probability, definition } = await model.score(patient);
		 */
		async score(patient: Patient, { at = lastRecord }: { readonly at?: Time } = {}) {
			const tuned = tunedTask(scoring, "load");
			const parsed = toPredict(patient);
			const day = readTime(at, parsed, "at");
			const { warnings, ...score } = await scoreJson(calls.scoreTask, tuned, parsed, day);
			return { ...score, ...about(parsed, warnings) };
		},
		/**
		 * One vector per patient: the representation of the history up to its last event.
		 *
		 * @example
		 * const [vector] = await model.embed([patient]);
		 */
		async embed(patients: readonly Patient[]): Promise<Float32Array[]> {
			const histories = patients.map(
				(given, place) => toPredict(given, `patients.${place}`).patient.history,
			);
			if (histories.length === 0) return [];
			const vectors = await calls.represent(histories);
			const dim = vectors.length / histories.length;
			return histories.map((_, at) => vectors.slice(at * dim, (at + 1) * dim));
		},
		/** The patient as the model reads it, even one without a known record: events, unknown codes, notes. */
		read: (patient: Patient): ParsedPatient =>
			readPatient(validated(patient, "patient"), reader, rules.axis),
		/** The tokens of a code and of all codes below it, as `calls` take them. */
		tokens: (code: string): readonly number[] => findCode(code, book).tokens,
		/**
		 * The low-level calls that the methods above use, with histories as tokens and days. `incidence` and its kin give
		 * risks; `predict` and `codeProbabilities` give the probability of codes if something is recorded at a time.
		 */
		calls,
		/** Frees the model's memory. It cannot be used afterwards. */
		close,
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
