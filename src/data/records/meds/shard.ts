import type { BadRows } from "../bad-rows.js";
import { daysFromText, expectedYears, isFarOff } from "../dates.js";
import type { RecordKind, Sex } from "../rows.js";
import { type Column, quoted, type Table } from "../sql.js";
import type { Store } from "../store.js";
import {
	type Fault,
	faultSql,
	openTable,
	reportFaults,
	rowOfFile,
	withNumberedRows,
} from "../table.js";
import { sexes } from "../words.js";
import { findColumn, idText, needColumn, wanted } from "./layout.js";

/** Counts of the rows of a shard. */
export const noRows = () => ({
	rows: 0,
	kept: 0,
	/** Of kinds that are not kept. */
	others: 0,
	/** Of kinds that are kept, without a time. */
	untimed: 0,
	/** With a sex other than female or male. */
	unsexed: 0,
});
export type Counts = ReturnType<typeof noRows>;

/** MEDS calls it `numeric_value`; some extractions call it `value`, which may be text in others. */
export function valueColumn(table: Table): Column | undefined {
	const column = findColumn(table, wanted.number);
	if (column) return column;
	const value = table.columns.find(({ name }) => name.toLowerCase() === "value");
	return value && /^(FLOAT|DOUBLE)$/.test(value.type) ? value : undefined;
}

const codeless = "coalesce(trim(meds), '') = ''";
const faults: readonly Fault[] = [
	{ when: "nobody", say: () => " has no subject_id; expected one in every row" },
	{ when: codeless, say: () => " has no code; expected one in every row" },
	{
		when: "mistimed",
		say: ({ time_text: text }) =>
			`: time is ${JSON.stringify(text ?? "")}; expected an ISO date or timestamp such as 2020-01-31T12:00:00, or empty for records without a time; ${expectedYears}`,
	},
	{
		when: "misvalued",
		say: () => ": numeric_value is not a number; put it in text_value, or leave it empty",
	},
];

/** Longer codes are not parsed, because no vocabulary has any. */
const longestCode = 200;

/** Creates the table of code meanings, which each shard extends. */
export const createCodes = (store: Store): Promise<void> =>
	store.create(
		"meds_code",
		"meds VARCHAR, meaning VARCHAR, sex VARCHAR, system VARCHAR, code VARCHAR, kind VARCHAR",
	);

/** Loads the rows of one shard into the store. */
export async function loadShard(
	store: Store,
	file: string,
	kinds: readonly RecordKind[],
	bad?: BadRows,
): Promise<Counts> {
	const table = await openTable(store, file);
	const subject = needColumn(table, wanted.subject);
	const time = needColumn(table, wanted.time);
	const code = needColumn(table, wanted.code);
	const value = valueColumn(table);
	const reads = [subject, time, code, value].filter((column) => column !== undefined);
	return await withNumberedRows(store, table, reads, async (numbered) => {
		await store.run(
			`CREATE OR REPLACE TEMP VIEW meds_given AS SELECT ${rowOfFile} AS row, ${columnsOf(subject, time, code, value)} FROM ${numbered}`,
		);
		await store.run("CREATE OR REPLACE TEMP VIEW meds_row AS FROM meds_given");
		await countCodes(store);
		if ((await store.count(`meds_seen WHERE faults > 0 OR ${codeless}`)) > 0) {
			await reportFaults(store, "meds_given", faults, table.places, bad);
			await store.run(
				`CREATE OR REPLACE TEMP VIEW meds_row AS FROM meds_given WHERE ${faultSql(faults)} IS NULL`,
			);
			await countCodes(store);
		}
		await learnCodes(store);
		const counts = await count(store, kinds);
		await insert(store, table, kinds);
		await store.run("DROP VIEW meds_row");
		await store.run("DROP VIEW meds_given");
		await store.run("DROP TABLE meds_seen");
		return counts;
	});
}

/** SQL for the columns of `meds_row`, with cheap checks of each. */
function columnsOf(subject: Column, time: Column, code: Column, value: Column | undefined): string {
	const moment = `try_cast(${time.sql} AS TIMESTAMP)`;
	const [days, timed] =
		time.type === "VARCHAR"
			? [daysFromText(time.sql), `coalesce(trim(${time.sql}) <> '', false)`]
			: [`(epoch(${moment}) / 86400.0)`, `${time.sql} IS NOT NULL`];
	const number = value ? `try_cast(${value.sql} AS DOUBLE)` : "CAST(NULL AS DOUBLE)";
	const id = idText(subject);
	return `${id} AS subject, ${days} AS days, ${code.sql} AS meds,
		CASE WHEN isfinite(${number}) THEN ${number} END AS value,
		${timed} AS timed, timed AND coalesce(${isFarOff("days")}, true) AS mistimed,
		left(CAST(${time.sql} AS VARCHAR), 40) AS time_text,
		${subject.type === "VARCHAR" ? `coalesce(${id}, '') = ''` : `${subject.sql} IS NULL`} AS nobody,
		${value?.type === "VARCHAR" ? `${number} IS NULL AND trim(${value.sql}) <> ''` : "false"} AS misvalued`;
}

/** Counts the rows of each code, and those that are invalid. */
async function countCodes(store: Store): Promise<void> {
	await store.run(
		`CREATE OR REPLACE TEMP TABLE meds_seen AS
		SELECT meds, count(*) AS rows, count(*) FILTER (timed) AS timed,
		count(*) FILTER (nobody OR mistimed OR misvalued) AS faults FROM meds_row GROUP BY meds`,
	);
}

const codesAtOnce = 10_000;

/** Adds the meanings of codes that no earlier shard has. */
async function learnCodes(store: Store): Promise<void> {
	await store.run(
		`CREATE OR REPLACE TEMP TABLE meds_new AS SELECT meds FROM meds_seen
		WHERE length(meds) <= ${longestCode} AND meds NOT IN (SELECT meds FROM meds_code)`,
	);
	for (let from = 0; ; from += codesAtOnce) {
		const codes = await store.all<{ meds: string }>(
			`SELECT meds FROM meds_new WHERE rowid >= ${from} AND rowid < ${from + codesAtOnce}`,
		);
		if (codes.length === 0) break;
		const rows = codes.map(({ meds }) => {
			const { is, ...meaning } = medsCode(meds);
			return { meds, meaning: is, ...meaning };
		});
		await store.append<string>("meds_code", rows);
	}
	await store.run("DROP TABLE meds_new");
}

/** The meaning of a row; codes that are too long count as not recognised. */
const what = `coalesce(meaning, 'record')`;
const kind = `coalesce(kind, 'other')`;

async function count(store: Store, kinds: readonly RecordKind[]): Promise<Counts> {
	const groups = await store.all<{
		what: string;
		kind: RecordKind;
		unsexed: boolean;
		rows: number;
		timed: number;
	}>(
		`SELECT ${what} AS what, ${kind} AS kind, coalesce(meaning = 'sex' AND sex IS NULL, false) AS unsexed,
		CAST(sum(rows) AS BIGINT) AS rows, CAST(sum(timed) AS BIGINT) AS timed
		FROM meds_seen LEFT JOIN meds_code USING (meds) GROUP BY ALL`,
	);
	const counts = noRows();
	for (const group of groups) {
		counts.rows += group.rows;
		if (group.unsexed) counts.unsexed += group.rows;
		if (group.what !== "record") continue;
		if (kinds.includes(group.kind)) {
			counts.kept += group.timed;
			counts.untimed += group.rows - group.timed;
		} else counts.others += group.rows;
	}
	return counts;
}

async function insert(store: Store, table: Table, kinds: readonly RecordKind[]): Promise<void> {
	const wantedKinds = kinds.map(quoted).join(", ");
	await store.addRecords(
		`SELECT row, subject AS patient, days AS time, coalesce(code, meds) AS code, coalesce(system, 'MEDS') AS system, ${kind} AS kind, value
		FROM meds_row LEFT JOIN meds_code USING (meds)
		WHERE ${what} = 'record' AND ${kind} IN (${wantedKinds}) AND days IS NOT NULL`,
	);
	const place = `${quoted(`${table.file}: row `)} || min(row)`;
	await store.run(
		`INSERT INTO person SELECT subject, NULL, NULL, NULL, any_value(split), ${place}
		FROM meds_row LEFT JOIN (SELECT subject, split FROM meds_split) USING (subject) GROUP BY subject ORDER BY min(row)`,
	);
	await store.run(
		`INSERT INTO person SELECT subject, CASE WHEN meaning = 'birth' THEN days END AS birth, sex,
		CASE WHEN meaning = 'death' THEN days END AS death, NULL, ${place}
		FROM meds_row JOIN meds_code USING (meds)
		WHERE meaning <> 'record' AND (meaning = 'sex' AND sex IS NOT NULL OR meaning <> 'sex' AND days IS NOT NULL)
		GROUP BY subject, meaning, birth, sex, death ORDER BY min(row)`,
	);
}

/** The meaning of a code of a MEDS dataset. */
type MedsCode =
	| {
			readonly is: "record";
			readonly system: string;
			readonly code: string;
			readonly kind: RecordKind;
	  }
	| { readonly is: "birth" }
	| { readonly is: "death" }
	| { readonly is: "sex"; readonly sex: Sex | null };

const condition = "(?:(?:DIAGNOS[IE]S|CONDITION|PROBLEM)S?//?)?";
const procedure = "PROCEDURES?//?";
const drug = "(?:(?:MEDICATION|DRUG|PRESCRIPTION)S?//?(?:START//?)?)?";
const test = "(?:(?:LAB|MEASUREMENT|OBSERVATION)S?//?)?";
const icd9 = "ICD(?://?|[-_ ])?9(?:[-_ ]?CM)?";
const icd10 = "ICD(?://?|[-_ ])?10(?:[-_ ]?CM)?";

/** Extractions write the vocabulary before the code, often with the table in front, separated by / or //. */
const written = (
	[
		[condition, icd9, "ICD9CM", "diagnosis"],
		[condition, icd10, "ICD10CM", "diagnosis"],
		[procedure, icd9, "ICD9Proc", "procedure"],
		[procedure, icd10, "ICD10PCS", "procedure"],
		[`(?:${procedure})?`, "ICD[-_]?9[-_]?(?:Proc|PCS)", "ICD9Proc", "procedure"],
		[`(?:${procedure})?`, "ICD[-_]?10[-_]?PCS", "ICD10PCS", "procedure"],
		[procedure, "SNOMED(?:[-_ ]?CT)?", "SNOMED", "procedure"],
		[condition, "SNOMED(?:[-_ ]?CT)?", "SNOMED", "diagnosis"],
		[drug, "RxNorm", "RxNorm", "drug"],
		[drug, "RxNorm Extension", "RxNorm Extension", "drug"],
		[drug, "NDC", "NDC", "drug"],
		[drug, "ATC", "ATC", "drug"],
		[test, "LOINC", "LOINC", "laboratory"],
	] as const
).map(([table, name, system, kind]) => ({
	pattern: new RegExp(`^${table}${name}//?([^/]+)$`, "i"),
	system,
	kind,
}));

/** The first match counts. A code without a match keeps its whole text as a code of MEDS. */
const vocabularies = [
	...written,
	// Names may contain a /; UNK means that there is no name.
	{ pattern: /^MEDICATION\/\/START\/\/(?!UNK$)((?:\/?[^/])+)$/s, system: "Name", kind: "drug" },
	{
		pattern: /^MEDICATION\/\/(?!(?:START|STOP|UNK)\/\/)((?:\/?[^/])+)\/\/Administered$/s,
		system: "Name",
		kind: "drug",
	},
] as const;

const birth = /^MEDS_BIRTH(?:\/\/.*)?$/s;
const death = /^MEDS_DEATH(?:\/\/.*)?$/s;
const sex = /^(?:\w+_)?(?:GENDER|SEX)\/\/?([^/]+)$/i;

export function medsCode(text: string): MedsCode {
	if (birth.test(text)) return { is: "birth" };
	if (death.test(text)) return { is: "death" };
	const word = sex.exec(text)?.[1];
	if (word) return { is: "sex", sex: sexes.get(word.trim().toLowerCase()) ?? null };
	for (const { pattern, system, kind } of vocabularies) {
		const code = pattern.exec(text)?.[1]?.trim();
		if (code) return { is: "record", system, code, kind };
	}
	return { is: "record", system: "MEDS", code: text, kind: kindOfOwnCode(text) };
}

/** The kind of a code of the dataset's own, by how it begins: `LAB//50868//mEq/L`. */
function kindOfOwnCode(text: string): RecordKind {
	if (/^LABS?\/\//i.test(text)) return "laboratory";
	return /^PROCEDURES?\/\//i.test(text) ? "procedure" : "other";
}
