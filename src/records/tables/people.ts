import { InputError } from "../../base/errors.js";
import { missingWords } from "../missing-values.js";
import type { Split } from "../rows.js";
import { sexes } from "../sexes.js";
import { quoted } from "../sql.js";
import type { Store } from "../store.js";
import { reading, type Table } from "../table.js";
import type { TimeIs } from "./column-names.js";
import {
	birthNames,
	deathNames,
	patientNames,
	sexNames,
	splitColumnNames,
} from "./column-names.js";
import { columnLikely, columnOr, type Found, missingColumn } from "./columns.js";
import { numberedRows, rowOfFile } from "./insert.js";
import type { TableOptions } from "./options.js";
import { badTime, chosen, daysOf, isBadTime, rawText, textOf } from "./values.js";

/** The words for each split. */
const splits: Readonly<Record<Split, readonly string[]>> = {
	train: ["train", "training"],
	valid: ["valid", "val", "validation", "tuning", "dev"],
	test: ["test", "testing", "held_out", "heldout"],
};

/** Reads a table of people into `person`, and returns notes. */
export async function loadPeople(
	store: Store,
	table: Table,
	unit: TimeIs,
	options: TableOptions,
): Promise<string[]> {
	const tables = [{ table, alias: "m" }];
	const patient = columnOr(tables, options.patient, patientNames);
	if (!patient) throw missingColumn(tables, "the patient", "call it patient");
	const [sex, birth, death, split] = [sexNames, birthNames, deathNames, splitColumnNames].map(
		(names) => columnLikely(tables, names),
	);
	if (!sex && !birth && !death && !split)
		throw missingColumn(tables, "sex, birth, death or split", "call them so");

	const ages = unit === "age-days" || unit === "age-years";
	const days = (column: Found, as: TimeIs) => daysOf(column, as, options.dateFormat, true);
	const birthDays = birth && !ages ? days(birth, unit) : undefined;
	const deathDays = death && days(death, unit);
	const sexWords = [...sexes].map(([word, sex]) => [word, sex ?? "unknown"] as const);
	const splitWords = Object.entries(splits).flatMap(([name, words]) =>
		words.map((word) => [word, name] as const),
	);
	const sexText = sex && `coalesce(lower(${textOf(sex, "whole")}), '')`;
	const columns: Record<string, string> = {
		patient: textOf(patient, "whole"),
		birth: birthDays ?? "NULL",
		sex: sexText ? chosen(sexText, sexWords) : "NULL",
		death: deathDays ?? "NULL",
		split: split ? chosen(`lower(${textOf(split)})`, splitWords) : "NULL",
	};
	const faults = [
		"patient IS NULL",
		sex ? "sex IS NULL" : "false",
		birthDays ? `${isBadTime("birth", unit)} AND birth_text IS NOT NULL` : "false",
		deathDays ? `${isBadTime("death", unit)} AND death_text IS NOT NULL` : "false",
		split ? "split IS NULL AND split_text IS NOT NULL" : "false",
	] as const;
	const missing = new Set([...missingWords, "NaT"].map((word) => word.toUpperCase()));
	const given = (column: Found | undefined) =>
		column
			? `CASE WHEN upper(trim(${rawText(column)})) IN (${[...missing].map(quoted).join(", ")}) THEN NULL ELSE ${rawText(column)} END`
			: "NULL";
	const list = Object.entries(columns).map(([name, sql]) => `${sql} AS ${name}`);
	const rows = `SELECT m.${rowOfFile} AS row, ${list.join(", ")}, ${given(birth)} AS birth_text, ${given(death)} AS death_text, ${given(split)} AS split_text FROM ${numberedRows(table.sql)}`;
	await reading(table, async () => {
		const [bad] = await store.all<{
			row: number;
			fault: number;
			birth: number | null;
			death: number | null;
			birth_text: string | null;
			death_text: string | null;
		}>(
			`SELECT row, CASE ${faults.map((fault, at) => `WHEN ${fault} THEN ${at}`).join(" ")} END AS fault, birth, death, birth_text, death_text FROM (${rows}) WHERE fault IS NOT NULL ORDER BY row LIMIT 1`,
		);
		if (bad) {
			const what = [
				`${patient.name} is empty; every row needs a patient: fill it in or remove the row`,
				`${sex?.name} is not a word we know; expected female, male, F, M or nothing where it is not known`,
				birth && badTime(bad.birth_text, bad.birth, birth, unit, options.dateFormat),
				death && badTime(bad.death_text, bad.death, death, unit, options.dateFormat),
				`${split?.name} is not one of train, valid, test`,
			][bad.fault];
			throw new InputError(`${await table.place(bad.row)}: ${what}`);
		}
		await store.run(
			`INSERT INTO person SELECT patient, birth, nullif(sex, 'unknown'), death, split, ${quoted(`${table.file}: row `)} || row FROM (${rows}) ORDER BY row`,
		);
	});
	return birth && ages
		? [`${table.file}: ${birth.name} was not read, for the times are ages: birth is at 0`]
		: [];
}

/** If times are ages, everybody is born at 0. */
export const birthsAtZero = (store: Store): Promise<void> =>
	store.run(
		"INSERT INTO person SELECT DISTINCT ON (patient) patient, 0, NULL, NULL, NULL, 'age 0' FROM record",
	);
