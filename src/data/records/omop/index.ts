import { join } from "node:path";
import { InputError } from "../../../base/errors.js";
import type { OmopOptions } from "../options.js";
import type { RecordSource } from "../store.js";
import { systemNamed } from "../systems.js";
import { conditionCodes, observationCodes, standardCodes } from "./codes.js";
import { databaseAddress, withDatabase } from "./database.js";
import { filesOf, folderTables } from "./folder.js";
import { type Events, loadStagedTables, type Plan, stageTables } from "./load.js";
import {
	type CdmTable,
	conditionEra,
	conditionOccurrence,
	drugEra,
	drugExposure,
	measurement,
	observation,
	person,
	type TableSource,
} from "./tables.js";

/** Opens an OMOP CDM 5.x: a folder of files or, with `db`, a database. */
export async function openOmop(
	folder: string | undefined,
	options: OmopOptions = {},
): Promise<RecordSource> {
	const sourceSystem = sourceSystemOf(options.sourceSystem);
	const mapFiles = options.conceptMap === undefined ? [] : [options.conceptMap];
	if (options.db !== undefined) {
		if (folder !== undefined)
			throw new InputError("both a folder and `db` are given; expected one of them");
		const address = databaseAddress(options.db);
		return {
			format: "omop",
			path: address.shown,
			files: mapFiles,
			async load(store, bad) {
				// The connection is closed before the staged tables are loaded.
				const [source, plan] = await withDatabase(address, options, async (source) => {
					const plan = planOf(source, options, sourceSystem);
					await stageTables(store, source, plan, bad);
					return [source, plan] as const;
				});
				return loadStagedTables(store, source, plan);
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
		files: [...Array.from(files.values(), (name) => join(folder, name)), ...mapFiles],
		async load(store, bad) {
			await stageTables(store, source, plan, bad);
			return loadStagedTables(store, source, plan);
		},
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
	const choose = (
		option: "conditions" | "drugTable",
		tables: Readonly<Record<string, CdmTable>>,
	) => {
		const asked = options[option];
		if (asked === undefined) return Object.values(tables).find((table) => source.has(table));
		return need(tables[asked] as CdmTable, `, which \`${option}\` ${asked} asks for`);
	};
	const condition = choose("conditions", { occurrence: conditionOccurrence, era: conditionEra });
	if (!condition)
		throw new InputError(
			`${where} has neither condition_occurrence nor condition_era; expected one of them`,
		);
	const drug = choose("drugTable", { exposure: drugExposure, era: drugEra });
	if (options.observations) need(observation, ", which `observations` asks for");
	if (options.measurements) need(measurement, ", which `measurements` asks for");
	const events: Events[] = [
		{ table: condition, kind: "diagnosis", codes: conditionCodes(sourceSystem) },
	];
	if (options.observations)
		events.push({
			table: observation,
			kind: "diagnosis",
			codes: observationCodes(sourceSystem),
		});
	if (drug) events.push({ table: drug, kind: "drug", codes: standardCodes });
	if (options.measurements)
		events.push({ table: measurement, kind: "laboratory", codes: standardCodes });
	return { events, sourceSystem, conceptMap: options.conceptMap };
}
