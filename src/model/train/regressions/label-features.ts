import { InputError } from "../../../base/errors.js";
import { yearDays } from "../../../base/time.js";
import { birthToken, specialCount } from "../../../data/cohort/vocabulary.js";
import { linearPredictor, type SparseRows } from "../../glm.js";
import { ageFeatures, featureFamilies, writeAges } from "../../hazards/landmarks.js";
import { type HazardSettings, hazardSettings } from "../../hazards/settings.js";
import type { Events } from "../../predictor.js";
import type { StoredRegression } from "../finetune/classifier.js";
import { recordColumns, recordRows } from "./record-features.js";

/** What a regression of labels knows of a person. Each family of columns has a penalty of its own. */
export const labelFamilies = [
	"known log-odds",
	"age and sex",
	"related records",
	...featureFamilies,
] as const;
export type LabelFamily = (typeof labelFamilies)[number];

/** What the columns of a regression of labels stand for. */
export interface LabelColumns {
	/** Codes and categories; of the settings, only the groups matter. */
	readonly settings: HazardSettings;
	readonly vocab: number;
	/** Tokens that medical knowledge relates to the task, such as complications of diabetes; may be none. */
	readonly related: readonly number[];
}

/** The known part of a history, and the time of the label: that of the last record if left out. */
export interface KnownHistory extends Events {
	readonly at?: number;
}

/** Age and sex as two numbers, and hats of age, by sex too. */
const personFeatures = 2 + ageFeatures;
/** Age is counted from here, in so many years. */
export const ageCentre = 50;
export const ageScale = 20;
/** The log of the number of related records, and whether there is one. */
const relatedFeatures = 2;

/** The part of a history that a network reads which takes so many events, one of which is the query. */
export function lastEvents(history: KnownHistory, maxLength: number): KnownHistory {
	const { tokens, times, at } = history;
	if (tokens.length < maxLength) return history;
	const born = birthEventsOf(tokens);
	const first = tokens.length - (maxLength - 1 - born);
	const kept = [...Array(born).keys()];
	for (let event = first; event < tokens.length; event++) kept.push(event);
	return {
		tokens: kept.map((event) => tokens[event]),
		times: kept.map((event) => times[event]),
		at: at ?? times[times.length - 1] ?? 0,
	};
}

const birthEventsOf = (tokens: ArrayLike<number>): 0 | 1 =>
	tokens.length > 0 && tokens[0] < specialCount ? 1 : 0;

/** Columns of records, then those of a person, of related records, and of known log-odds. */
function layoutOf({ settings, vocab }: LabelColumns) {
	const records = recordColumns(settings, vocab);
	const person = records.width;
	const related = person + personFeatures;
	const known = related + relatedFeatures;
	return { records, person, related, known, width: known + 1 };
}

/** The index in `labelFamilies` of each column; −1 for the column of ones, and for those that labels leave empty. */
export function familiesOfColumns(columns: LabelColumns): Int8Array {
	const { records, person, related, known, width } = layoutOf(columns);
	return Int8Array.from({ length: width }, (_, column) => {
		if (column === known) return labelFamilies.indexOf("known log-odds");
		if (column >= related) return labelFamilies.indexOf("related records");
		if (column >= person) return labelFamilies.indexOf("age and sex");
		if (column >= records.past) return -1;
		const family = featureFamilies[Math.floor(column / records.count)];
		return labelFamilies.indexOf(family);
	});
}

/** The rows of histories; `known` are log-odds that are known beforehand. */
export function labelRows(
	columns: LabelColumns,
	histories: readonly KnownHistory[],
	known?: ArrayLike<number>,
): SparseRows {
	const layout = layoutOf(columns);
	const related = new Set(columns.related);
	const people = histories.map(({ tokens, times, at }) => {
		const birthEvents = birthEventsOf(tokens);
		const time = at ?? times[times.length - 1] ?? 0;
		return { history: { tokens, times, birthEvents }, day: Math.floor(time) };
	});
	const records = recordRows(columns.settings, columns.vocab, people);
	const { past, bias } = layout.records;
	const isPast = (column: number) => column >= past && column < bias;
	const further = new Float32Array(layout.width - layout.person);
	const rowColumns: number[] = [];
	const rowValues: number[] = [];
	const ends = new Int32Array(people.length);
	for (const [row, { history, day }] of people.entries()) {
		for (let i = records.starts[row]; i < records.ends[row]; i++) {
			if (isPast(records.columns[i])) continue;
			rowColumns.push(records.columns[i]);
			rowValues.push(records.values[i]);
		}
		further.fill(0);
		writePerson(further, history, day);
		const count = Array.prototype.filter.call(history.tokens, (token) => related.has(token)).length;
		further[layout.related - layout.person] = Math.log1p(count);
		further[layout.related - layout.person + 1] = Number(count > 0);
		further[layout.known - layout.person] = known?.[row] ?? 0;
		for (const [i, value] of further.entries()) {
			if (value === 0) continue;
			rowColumns.push(layout.person + i);
			rowValues.push(value);
		}
		ends[row] = rowColumns.length;
	}
	return {
		starts: Int32Array.from(ends, (_, row) => (row === 0 ? 0 : ends[row - 1])),
		ends,
		columns: Int32Array.from(rowColumns),
		values: Float32Array.from(rowValues),
	};
}

/** Zeros where neither birth nor sex is known. */
function writePerson(
	into: Float32Array,
	history: Events & { readonly birthEvents: 0 | 1 },
	day: number,
): void {
	if (history.birthEvents === 0) return;
	const [birth, sex] = [history.times[0], history.tokens[0]];
	into[0] = ((day - birth) / yearDays - ageCentre) / ageScale;
	into[1] = sex === birthToken("male") ? 1 : sex === birthToken("female") ? -1 : 0;
	writeAges(into.subarray(2), history, day);
}

/** The log-odds of histories by a regression that a fine-tuned run has stored. */
export function storedLogOdds(
	vocab: number,
	{ families, groups, related, coefficients }: StoredRegression,
	histories: readonly KnownHistory[],
	known?: ArrayLike<number>,
): Float64Array {
	const columns = { settings: hazardSettings.parse({ groups }), vocab, related };
	if (families.join() !== labelFamilies.join() || coefficients.length !== layoutOf(columns).width)
		throw new InputError(
			`the regression of the fine-tuned model has ${coefficients.length} coefficients of ${families.join(", ")}, expected ${layoutOf(columns).width} of ${labelFamilies.join(", ")}; fine-tune the run again`,
		);
	return linearPredictor(labelRows(columns, histories, known), coefficients);
}
