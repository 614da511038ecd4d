import { shareableBuffer } from "../../../base/arrays.js";
import { yearDays } from "../../../base/time.js";
import type { History } from "../../../data/cohort/index.js";
import { specialCount, type Vocabulary } from "../../../data/cohort/vocabulary.js";
import type { SparseRows } from "../../glm.js";
import {
	featureFamilies,
	groupsOfTokens,
	pastFeatures,
	pastNames,
	recencyOf,
	recentDays,
	writePast,
} from "../../hazards/landmarks.js";
import { type HazardSettings, outputsOf } from "../../hazards/settings.js";
import type { Events } from "../../predictor.js";

/** A person on a day up to which everything is known. */
export interface KnownOnDay {
	readonly history: History;
	readonly day: number;
}

/** People on days, as regressions see them. Threads share the arrays. */
export interface DescribedPeople {
	/** Rows of records. */
	readonly features: SparseRows;
	/** In years; −1 if the birth is unknown. */
	readonly ages: Float32Array;
	/** 1 for men, −1 for women, 0 if unknown. */
	readonly sexes: Int8Array;
	/** The number of outputs: the columns of a family. */
	readonly outputs: number;
	/** The number of columns of the rows. */
	readonly width: number;
}

/**
 * The columns of regressions on records: the families one after the other, each with a column per output; then how much
 * was recorded of anything, and one of ones.
 */
export function recordColumns(settings: HazardSettings, vocab: number) {
	const { count } = outputsOf(settings, vocab);
	const past = featureFamilies.length * count;
	const bias = past + pastFeatures;
	return { count, past, bias, width: bias + 1 };
}

/** The name of each column, such as "records 428"; null for those that no record fills. */
export function columnNames({ groups }: HazardSettings, { tokens }: Vocabulary): (string | null)[] {
	const groupName = ({ name }: { readonly name: string }, place: number) => {
		const earlier = groups.slice(0, place).filter((group) => group.name === name).length;
		return `group ${name}${earlier === 0 ? "" : ` (${earlier + 1})`}`;
	};
	const outputs = [...outputNames(tokens), ...groups.map(groupName), null];
	return [
		...featureFamilies.flatMap((family) =>
			outputs.map((output) => (output === null ? null : `${family} ${output}`)),
		),
		...pastNames,
		null,
	];
}

/** The code of each token, after its system where several systems have the code; null for special tokens. */
export function outputNames(tokens: Vocabulary["tokens"]): (string | null)[] {
	const codes = tokens.map(({ code }) => code);
	const repeated = new Set(codes.filter((code, token) => codes.indexOf(code) < token));
	return tokens.map(({ code, system }, token) =>
		token < specialCount ? null : repeated.has(code) ? `${system} ${code}` : code,
	);
}

/** What regressions see of people on days. */
export function described(
	settings: HazardSettings,
	vocab: number,
	people: readonly KnownOnDay[],
): DescribedPeople {
	const ages = new Float32Array(new SharedArrayBuffer(4 * people.length));
	const sexes = new Int8Array(new SharedArrayBuffer(people.length));
	for (const [row, { history, day }] of people.entries()) {
		ages[row] = ageOn(history, day);
		sexes[row] = sexSign(history);
	}
	const { count, width } = recordColumns(settings, vocab);
	return { features: recordRows(settings, vocab, people), ages, sexes, outputs: count, width };
}

const ageOn = ({ birthEvents, times }: Pick<History, "birthEvents" | "times">, day: number) =>
	birthEvents === 1 ? Math.max(0, (day - times[0]) / yearDays) : -1;

const sexSign = ({ sex }: Pick<History, "sex">): number =>
	sex === null ? 0 : sex === "male" ? 1 : -1;

/** The rows of people on days; the columns of a row are in no order. */
export function recordRows(
	settings: HazardSettings,
	vocab: number,
	people: readonly {
		readonly history: Events & Pick<History, "birthEvents">;
		readonly day: number;
	}[],
): SparseRows {
	const { count, past, bias } = recordColumns(settings, vocab);
	const groups = groupsOfTokens(settings, vocab);
	const records = new Int32Array(count);
	const recent = new Int32Array(count);
	const lastDay = new Float64Array(count);
	const ofAnything = new Float32Array(pastFeatures);
	const outputs: number[] = [];
	const columns: number[] = [];
	const values: number[] = [];
	const starts = new Int32Array(shareableBuffer(4 * people.length));
	const ends = new Int32Array(shareableBuffer(4 * people.length));
	for (const [row, { history, day }] of people.entries()) {
		const { tokens, times, birthEvents } = history;
		const note = (output: number, recordDay: number) => {
			if (records[output] === 0) outputs.push(output);
			records[output] += 1;
			if (day - recordDay < recentDays) recent[output] += 1;
			lastDay[output] = recordDay;
		};
		let event = birthEvents;
		for (; event < tokens.length; event++) {
			const recordDay = Math.floor(times[event]);
			if (recordDay > day) break;
			const token = tokens[event];
			note(token, recordDay);
			for (const group of groups[token] ?? []) note(group, recordDay);
		}
		const put = (column: number, value: number) => {
			if (value === 0) return;
			columns.push(column);
			values.push(value);
		};
		starts[row] = columns.length;
		for (const output of outputs) {
			const features = [
				Math.log1p(records[output]),
				Math.log1p(recent[output]),
				1,
				Math.min(1, records[output] - 1),
				recencyOf(day - lastDay[output]),
			];
			for (const [family, value] of features.entries()) put(family * count + output, value);
			records[output] = recent[output] = 0;
		}
		outputs.length = 0;
		writePast(ofAnything, history, event, day);
		for (const [feature, value] of ofAnything.entries()) put(past + feature, value);
		put(bias, 1);
		ends[row] = columns.length;
	}
	const sharedColumns = new Int32Array(shareableBuffer(4 * columns.length));
	sharedColumns.set(columns);
	const sharedValues = new Float32Array(shareableBuffer(4 * values.length));
	sharedValues.set(values);
	return { starts, ends, columns: sharedColumns, values: sharedValues };
}

/** Trees find these thresholds in the number of records. */
const thresholdFamilies = [
	featureFamilies.indexOf("any record"),
	featureFamilies.indexOf("two or more records"),
];

/** The rows with two more columns, age and sex, and without those that say whether there are one or two records. */
export function treeRows({ features, ages, sexes, outputs, width }: DescribedPeople): SparseRows {
	const columns: number[] = [];
	const values: number[] = [];
	const put = (column: number, value: number) => {
		columns.push(column);
		values.push(value);
	};
	const starts = new Int32Array(ages.length);
	const ends = new Int32Array(ages.length);
	for (const row of ages.keys()) {
		starts[row] = columns.length;
		for (let i = features.starts[row]; i < features.ends[row]; i++) {
			const column = features.columns[i];
			if (!thresholdFamilies.includes(Math.floor(column / outputs)))
				put(column, features.values[i]);
		}
		put(width, ages[row]);
		put(width + 1, sexes[row]);
		ends[row] = columns.length;
	}
	return { starts, ends, columns: Int32Array.from(columns), values: Float32Array.from(values) };
}
