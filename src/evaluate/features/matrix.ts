import { InputError } from "../../base/errors.js";
import { type Column, columnsOf } from "../../base/files/column-file.js";
import { isoDate } from "../../base/time.js";
import { usualLookBack } from "../../data/cohort/at-risk.js";
import { type Dataset, type Label, type Split, splitNames } from "../../data/cohort/index.js";
import { type HazardSettings, hazardSettings, usualGroups } from "../../model/hazards/settings.js";
import { labelsOf } from "../../model/train/index.js";
import { usualLandmarks } from "../../model/train/regressions/fit-hazards.js";
import { drawnLandmarks, type Landmark } from "../../model/train/regressions/followed-landmarks.js";
import {
	columnNames,
	described,
	type KnownOnDay,
	outputNames,
} from "../../model/train/regressions/record-features.js";
import { type EvaluateOptions, evaluateDefaults, regressionLimit } from "../evaluation.js";
import { labelledTasks, taskLabels } from "../labelled/task-labels.js";
import { daysOf, measuredCodes, type OnsetStudy } from "../onset/study.js";
import { openOnsetStudy } from "../onset/task.js";
import { evaluatedPatients, sampleText } from "../tasks.js";
import { type OutcomeCode, outcomeColumns, outcomesAfter } from "./outcomes.js";

/** Which rows and outcomes a matrix has. */
export interface MatrixOptions
	extends Partial<
		Pick<EvaluateOptions, "index" | "horizons" | "lookBackDays" | "seed" | "before">
	> {
	/** `onset`, or a task with labels. */
	readonly task: string;
	/** Test patients, as in an evaluation. */
	readonly patients?: number | "all" | undefined;
	/** Onset: the codes whose outcomes are columns; by default those that are frequent within some horizon. */
	readonly codes?: readonly string[] | undefined;
}

/** The rows of a split, and the columns of some of them that are not features. */
interface MatrixRows {
	readonly people: readonly KnownOnDay[];
	columnsOf(rows: readonly number[]): Column[];
}

/** What regressions know of people on days, and what became of them. */
export interface FeatureMatrix {
	readonly settings: HazardSettings;
	readonly rows: Readonly<Record<Split, MatrixRows>>;
	readonly notes: readonly string[];
	/** Onset: the rule of the index days of test patients, the codes with outcomes and the horizons in years. */
	readonly onset?: {
		readonly index: string;
		readonly codes: readonly string[];
		readonly horizons: readonly number[];
	};
}

/** The rows of a task: those that baselines learn from, and those that an evaluation measures. */
export async function openFeatureMatrix(
	dataset: Dataset,
	options: MatrixOptions,
): Promise<FeatureMatrix> {
	const { task, patients } = options;
	const { split } = evaluateDefaults;
	const { people, sample } = await evaluatedPatients(task, dataset, { split, patients });
	const settings = hazardSettings.parse({ groups: usualGroups(dataset.vocabulary) });
	const notes = sample ? [sampleText(sample)] : [];
	if (task !== "onset") return { settings, rows: await labelRows(people, task), notes };
	const evaluated = { ...evaluateDefaults, ...options, ...(sample && { sample }) };
	const { study, notes: ofStudy } = await openOnsetStudy(people, evaluated);
	const codes = outcomeCodes(study, options.codes);
	const { lookBackDays = usualLookBack } = options;
	return {
		settings,
		rows: await onsetRows(study, codes, lookBackDays),
		notes: [...notes, ...ofStudy.slice(0, 1)],
		onset: {
			index: study.index,
			codes: codes.map(({ name }) => name),
			horizons: study.horizons,
		},
	};
}

function outcomeCodes(
	{ dataset: { folder, vocabulary }, codes, horizons }: OnsetStudy,
	chosen: readonly string[] | undefined,
): OutcomeCode[] {
	const names = outputNames(vocabulary.tokens);
	const nameable = codes.flatMap((code) => {
		const name = names[code.token];
		return name === null ? [] : [{ ...code, name }];
	});
	if (chosen === undefined) {
		const frequent = new Set(horizons.flatMap((years) => measuredCodes(nameable, daysOf(years))));
		return nameable.filter((code) => frequent.has(code));
	}
	return chosen.flatMap((text) => {
		const matches = nameable.filter(({ token }) => vocabulary.tokens[token].code === text);
		if (matches.length > 0) return matches;
		throw new InputError(
			`code "${text}" is not in the vocabulary of ${folder}, or has ranges of values, whose first record is a first test; \`trajgpt codes ${folder}\` lists its codes`,
			{ field: "codes", value: text },
		);
	});
}

async function onsetRows(
	{ dataset, trainingDataset, cohort, horizons }: OnsetStudy,
	codes: readonly OutcomeCode[],
	lookBackDays: number,
): Promise<FeatureMatrix["rows"]> {
	const { size } = dataset.vocabulary;
	const usual = usualLandmarks(lookBackDays, regressionLimit);
	const learnedFrom = async (split: Split) =>
		(await drawnLandmarks(trainingDataset, split, usual)).landmarks;
	const ofLandmarks = (landmarks: readonly Landmark[]): MatrixRows => {
		const outcomes = outcomesAfter(landmarks, size, codes, horizons);
		return {
			people: landmarks.map(({ history, atRisk }) => ({ history, day: atRisk.from })),
			columnsOf: (rows) => [
				...columnsOf(rows, {
					"days observed": ["count", (row) => daysObserved(landmarks[row])],
					died: ["flag", (row) => landmarks[row].atRisk.endedBy === "death"],
				}),
				...outcomeColumns(outcomes, horizons, rows),
			],
		};
	};
	return {
		train: ofLandmarks(await learnedFrom("train")),
		valid: ofLandmarks(await learnedFrom("valid")),
		test: ofLandmarks(cohort.patients),
	};
}

const daysObserved = ({ atRisk: { from, until } }: Landmark) => until - from;

async function labelRows(dataset: Dataset, task: string): Promise<FeatureMatrix["rows"]> {
	if (!labelledTasks(dataset).includes(task))
		throw new InputError(
			`${dataset.folder} has no task "${task}" with labels; it has onset, ${labelledTasks(dataset).join(", ")}`,
			{ field: "task", value: task },
		);
	const { labels } = await taskLabels(dataset, task);
	const ofSplit = async (split: Split): Promise<MatrixRows> => {
		const all = labelsOf(dataset, labels, split);
		const people: KnownOnDay[] = [];
		for (const label of all) people.push(await knownAtLabel(dataset, label));
		return {
			people,
			columnsOf: (rows) =>
				columnsOf(rows, {
					label: ["flag", (row) => all[row].value],
					weight: ["number", (row) => all[row].weight ?? 1],
				}),
		};
	};
	return {
		train: await ofSplit("train"),
		valid: await ofSplit("valid"),
		test: await ofSplit("test"),
	};
}

/** The records that a label lets a model see: those of its day may be a part. */
async function knownAtLabel(
	dataset: Dataset,
	{ patient, events, time }: Label,
): Promise<KnownOnDay> {
	const history = await dataset.read(patient);
	const seen = history.birthEvents + events;
	const { tokens, times } = history;
	return {
		history: { ...history, tokens: tokens.subarray(0, seen), times: times.subarray(0, seen) },
		day: time,
	};
}

/** Values that are in memory at a time, about; larger pieces make a smaller file. */
const valuesPerPiece = 2 ** 25;

/** The table of a matrix, piece by piece: training, validation, then test rows. */
export function* matrixPieces(
	{ vocabulary, manifest }: Dataset,
	{ settings, rows: bySplit }: FeatureMatrix,
): Generator<readonly Column[]> {
	const names = columnNames(settings, vocabulary);
	const perPiece = Math.ceil(valuesPerPiece / names.length);
	for (const split of splitNames) {
		const { people, columnsOf: otherColumns } = bySplit[split];
		for (let first = 0; first < people.length; first += perPiece) {
			const piece = people.slice(first, first + perPiece);
			const rows = piece.map((_, i) => first + i);
			yield [
				...columnsOf(piece, {
					patient: ["text", ({ history }) => history.id],
					split: ["text", () => split],
					date: manifest.source.axis === "dates" && ["text", ({ day }) => isoDate(day)],
					day: ["number", ({ day }) => day],
				}),
				...otherColumns(rows),
				...featureColumns(settings, vocabulary.size, names, piece),
			];
		}
	}
}

const orNull = (value: number, isKnown: boolean) => (isKnown ? value : null);

function featureColumns(
	settings: HazardSettings,
	vocab: number,
	names: readonly (string | null)[],
	people: readonly KnownOnDay[],
): Column[] {
	const days = people.map(({ history, day }) => ({ history, day: Math.floor(day) }));
	const { ages, sexes, features } = described(settings, vocab, days);
	const count = people.length;
	const values = new Float32Array(names.length * count);
	for (let row = 0; row < count; row++)
		for (let i = features.starts[row]; i < features.ends[row]; i++)
			values[features.columns[i] * count + row] = features.values[i];
	return [
		{
			name: "age",
			type: "decimal",
			values: Array.from(ages, (age) => orNull(age, age >= 0)),
		},
		{
			name: "male",
			type: "whole",
			values: Array.from(sexes, (sex) => orNull(Number(sex > 0), sex !== 0)),
		},
		...names.flatMap((name, column): Column[] =>
			name === null
				? []
				: [
						{
							name,
							type: "float",
							values: values.subarray(column * count, (column + 1) * count),
						},
					],
		),
	];
}
