import type { Vocabulary } from "../../../src/data/cohort/vocabulary.js";
import type { Edit } from "../../../src/predict/what-if.js";
import type { History } from "../data/patient.js";
import {
	type CodeRisk,
	type NewDiagnoses,
	newDiagnoses,
	type PatientOnDate,
	type RiskModel,
	type RiskTable,
	riskOf,
	riskTables,
	type StartFor,
} from "./risks.js";

/** An edit as the library takes it, and in words. */
export interface NamedEdit {
	readonly edit: Edit;
	readonly name: string;
}

export interface RiskRequest extends PatientOnDate {
	/** The unedited history; null if nothing is edited. */
	readonly original: History | null;
	/** What leads from the unedited history to this one. */
	readonly edits: readonly NamedEdit[];
	readonly codes: readonly number[];
}

export interface Risks extends NewDiagnoses {
	readonly risks: readonly CodeRisk[];
	/** Of the unedited history; null if nothing is edited. */
	readonly before: readonly CodeRisk[] | null;
}

/** Tables kept: the unedited history, and the edits that undo and redo come back to. */
const mostTables = 12;
const mostNew = 8;

const isSame = (a: readonly number[], b: readonly number[]) =>
	a.length === b.length && a.every((value, at) => value === b[at]);

const answers = (a: PatientOnDate, b: PatientOnDate) =>
	Math.floor(a.date) === Math.floor(b.date) &&
	a.sex === b.sex &&
	isSame(a.history.tokens, b.history.tokens) &&
	isSame(a.history.times, b.history.times);

/** Answers requests with one call of the model each, or with none if history and date were seen before. */
export function riskSource(
	model: RiskModel,
	vocabulary: Vocabulary,
	startFor?: StartFor,
): (request: RiskRequest) => Promise<Risks> {
	let tables: readonly RiskTable[] = [];
	return async (request) => {
		const { history, sex, date, original, codes } = request;
		const needed: PatientOnDate[] = [{ history, sex, date }];
		if (original) needed.push({ history: original, sex, date });
		const missing = needed.filter((one) => !tables.some((table) => answers(table, one)));
		const made = missing.length > 0 ? await riskTables(model, missing, vocabulary, startFor) : [];
		const all = [...made, ...tables];
		const [own, before] = needed.map((one) => all.find((table) => answers(table, one)));
		if (!own) throw new Error("the model gave no risks");
		const used = [own, ...(before ? [before] : [])];
		tables = [...used, ...all.filter((table) => !used.includes(table))].slice(0, mostTables);
		const risksIn = (table: RiskTable) => codes.map((token) => riskOf(table, model, token));
		return {
			risks: risksIn(own),
			before: before ? risksIn(before) : null,
			...newDiagnoses(own, model.rates, vocabulary, mostNew),
		};
	};
}
