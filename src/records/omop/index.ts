import { join } from "node:path";
import { InputError } from "../../base/errors.js";
import type { RecordSource } from "../rows.js";
import { systemNamed } from "../systems.js";
import { databaseAddress } from "./address.js";
import { withDatabase } from "./database.js";
import { filesOf, folderTables } from "./folder.js";
import type { Plan } from "./load.js";
import { loadStagedTables, stageTables } from "./load.js";
import type { TableSource } from "./table-source.js";
import type { CdmTable } from "./tables.js";
import {
	conditionEra,
	conditionOccurrence,
	drugEra,
	drugExposure,
	observation,
	person,
} from "./tables.js";

export interface OmopOptions {
	/** The table of diagnoses; occurrence by default if it exists. */
	readonly conditions?: "occurrence" | "era" | undefined;
	/** The table of drugs; exposure by default if it exists. */
	readonly drugTable?: "exposure" | "era" | undefined;
	/** Whether diagnoses are also read from the observations. */
	readonly observations?: boolean | undefined;
	/** The system of condition_source_value: icd9 or icd10. */
	readonly sourceSystem?: string | undefined;
	/** A CSV file of concepts and ICD codes. */
	readonly conceptMap?: string | undefined;
	/** A PostgreSQL database instead of a folder: postgres://user@host/database. */
	readonly db?: string | undefined;
	/** The schema of its tables; by default the user's search path. */
	readonly schema?: string | undefined;
	/** The schema of concept and concept_relationship; by default `schema`. */
	readonly vocabularySchema?: string | undefined;
	/** Rows per batch from a database. */
	readonly batchRows?: number | undefined;
}

/** Opens an OMOP CDM 5.x: a folder of files or, with `db`, a database. */
export async function openOmop(
	folder: string | undefined,
	options: OmopOptions = {},
): Promise<RecordSource> {
	const sourceSystem = sourceSystemOf(options.sourceSystem);
	const load = async (
		store: Parameters<RecordSource["load"]>[0],
		source: TableSource,
		plan: Plan,
	) => {
		await stageTables(store, source, plan);
		return () => loadStagedTables(store, source, plan);
	};
	if (options.db !== undefined) {
		if (folder !== undefined)
			throw new InputError("both a folder and `db` are given; expected one of them");
		const address = databaseAddress(options.db);
		return {
			format: "omop",
			path: address.shown,
			...(options.conceptMap === undefined ? {} : { files: [options.conceptMap] }),
			async load(store) {
				const rest = await withDatabase(address, options, (source) =>
					load(store, source, planOf(source, options, sourceSystem)),
				);
				return rest();
			},
		};
	}
	for (const [option, value] of [
		["`schema`", options.schema],
		["`vocabularySchema`", options.vocabularySchema],
	])
		if (value !== undefined)
			throw new InputError(
				`${option} is for a database; pass \`db\` postgres://user@host/database, or leave it out`,
			);
	if (folder === undefined)
		throw new InputError(
			"no source is given; expected a folder of OMOP files, or `db` postgres://user@host/database",
		);
	const files = await filesOf(folder);
	const source = folderTables(folder, files);
	const plan = planOf(source, options, sourceSystem, folder);
	return {
		format: "omop",
		path: folder,
		files: [
			...Array.from(files.values(), (name) => join(folder, name)),
			...(options.conceptMap === undefined ? [] : [options.conceptMap]),
		],
		load: async (store) => (await load(store, source, plan))(),
	};
}

function sourceSystemOf(name: string | undefined): string | undefined {
	if (name === undefined) return undefined;
	const system = systemNamed(name);
	if (system === "ICD9CM" || system === "ICD10CM") return system;
	throw new InputError(`\`sourceSystem\` is ${JSON.stringify(name)}; expected icd9 or icd10`);
}

function planOf(
	source: TableSource,
	options: OmopOptions,
	sourceSystem: string | undefined,
	folder?: string,
): Plan {
	const where = folder ?? "the database";
	const need = (table: CdmTable, why = "") => {
		if (source.has(table)) return table;
		throw new InputError(
			folder
				? `${folder} has no table ${table.name}${why}; expected ${table.name}.csv, .tsv, .csv.gz or .parquet`
				: `${source.nameOf(table)}: no such table${why}; check \`schema\``,
		);
	};
	need(person);
	const condition =
		options.conditions === "era"
			? need(conditionEra, ", which `conditions` era asks for")
			: options.conditions === "occurrence"
				? need(conditionOccurrence, ", which `conditions` occurrence asks for")
				: [conditionOccurrence, conditionEra].find((table) => source.has(table));
	if (!condition)
		throw new InputError(
			`${where} has neither condition_occurrence nor condition_era; expected one of them`,
		);
	const drug =
		options.drugTable === "era"
			? need(drugEra, ", which `drugTable` era asks for")
			: options.drugTable === "exposure"
				? need(drugExposure, ", which `drugTable` exposure asks for")
				: [drugExposure, drugEra].find((table) => source.has(table));
	const observations = options.observations ?? false;
	if (observations) need(observation, ", which `observations` asks for");
	return { condition, drug, observations, sourceSystem, conceptMap: options.conceptMap };
}
