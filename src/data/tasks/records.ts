import { join } from "node:path";
import { InputError } from "../../base/errors.js";
import { dayMicroseconds, type TimeAxis } from "../../base/time.js";
import type { Dataset } from "../cohort/index.js";
import { deathRecord } from "../cohort/reading/rules.js";
import { specialCount, type Token } from "../cohort/vocabulary.js";
import { daysFromText } from "../records/dates.js";
import { findMeds, idText, needColumn, wanted } from "../records/meds/layout.js";
import { valueColumn } from "../records/meds/shard.js";
import { named, type Table } from "../records/sql.js";
import { parquetRows, type Store } from "../records/store.js";
import { openTable } from "../records/table.js";

/** The records of subjects, as a task sees them. */
export interface TaskRecords {
	readonly path: string;
	readonly axis: TimeAxis;
	/** The files that the store reads. */
	readonly files: readonly string[];
	/**
	 * Creates view `item` (subject, moment, code, value and the given columns): one row per record, with codes as in MEDS.
	 * `moment` is in microseconds since 1970-01-01, NULL for records without a time.
	 */
	view(store: Store, columns: readonly string[]): Promise<void>;
	/** Whether records can have a value. */
	readonly hasValues: boolean;
	/** SQL for the days in which subjects were observed: (subject, first, last). */
	readonly observed: string;
	/** Explains an error of DuckDB about the files. */
	explain(error: unknown): Promise<unknown>;
}

/** SQL for microseconds from days. */
export const fromDays = (days: string) => `CAST(round(${days} * ${dayMicroseconds}) AS BIGINT)`;

/**
 * The code of a token in MEDS, without the range of values that it may stand for; codes that came from MEDS as a whole
 * are as they were.
 */
export function medsCodeOf({ code, system, value }: Token): string {
	const plainCode = value?.code ?? code;
	return system === null || system === "MEDS" ? plainCode : `${system}//${plainCode}`;
}

/** SQL for a file of a dataset, with its rows numbered in `file_row_number`. */
export const datasetTable = ({ folder }: Dataset, name: string): string =>
	parquetRows(join(folder, name));

/** The records of a prepared dataset, with birth, death and sex as in MEDS. */
export function datasetRecords(dataset: Dataset): TaskRecords {
	const { folder, vocabulary, manifest } = dataset;
	const patient = `(SELECT file_row_number AS patient, * FROM ${datasetTable(dataset, "patients.parquet")})`;
	const fact = (moment: string, code: string, column: string) =>
		`SELECT id, ${moment}, ${code}, CAST(NULL AS FLOAT) FROM ${patient} WHERE ${column} IS NOT NULL`;
	return {
		path: folder,
		axis: manifest.source.axis,
		files: ["events.parquet", "patients.parquet", "observation.parquet"].map((name) =>
			join(folder, name),
		),
		hasValues: false,
		async view(store, columns) {
			if (columns.length > 0)
				throw new InputError(
					`the task asks for the columns ${columns.join(", ")}, which the dataset ${folder} does not have; name a folder in MEDS instead`,
				);
			const death = vocabulary.find(deathRecord.code, deathRecord.system);
			await store.create("token_code", "token INTEGER, code VARCHAR");
			await store.append(
				"token_code",
				vocabulary.tokens.flatMap((token, at) =>
					at < specialCount || at === death ? [] : [{ token: at, code: medsCodeOf(token) }],
				),
			);
			await store.run(`
				CREATE OR REPLACE VIEW item AS
				SELECT id AS subject, ${fromDays("time")} AS moment, code, CAST(NULL AS FLOAT) AS value
				FROM ${datasetTable(dataset, "events.parquet")} JOIN token_code USING (token) JOIN ${patient} USING (patient)
				UNION ALL ${fact(fromDays("birth"), "'MEDS_BIRTH'", "birth")}
				UNION ALL ${fact(fromDays("death"), "'MEDS_DEATH'", "death")}
				UNION ALL ${fact("NULL", "CASE sex WHEN 'female' THEN 'GENDER//F' ELSE 'GENDER//M' END", "sex")}`);
		},
		observed: `
			SELECT id AS subject, start AS first, "end" AS last
			FROM ${datasetTable(dataset, "observation.parquet")} JOIN ${patient} USING (patient)`,
		explain: async (error) => error,
	};
}

/** The records of a folder in MEDS, or of one of its files. Subjects are observed from their first to last record. */
export async function medsRecords(path: string): Promise<TaskRecords> {
	const { shards } = await findMeds(path);
	const opened: Table[] = [];
	return {
		path,
		axis: "dates",
		files: shards,
		hasValues: true,
		async view(store, columns) {
			const parts: string[] = [];
			for (const shard of shards) {
				const table = await openTable(store, shard);
				opened.push(table);
				parts.push(shardSql(table, columns));
			}
			await store.run(`CREATE OR REPLACE VIEW item AS ${parts.join(" UNION ALL ")}`);
		},
		observed: `
			SELECT subject, floor(min(moment) / ${dayMicroseconds}) AS first, floor(max(moment) / ${dayMicroseconds}) AS last
			FROM item WHERE moment IS NOT NULL AND NOT starts_with(code, 'MEDS_BIRTH') GROUP BY subject`,
		async explain(error) {
			const message = error instanceof Error ? error.message : "";
			const table = opened.find(({ file }) => message.includes(file)) ?? opened[0];
			return table ? table.explain(error) : error;
		},
	};
}

function shardSql(table: Table, columns: readonly string[]): string {
	const time = needColumn(table, wanted.time);
	const value = valueColumn(table);
	const moment =
		time.type === "VARCHAR"
			? fromDays(daysFromText(time.sql))
			: `epoch_us(try_cast(${time.sql} AS TIMESTAMP))`;
	// MEDS has 32-bit values; bounds are compared in the same precision.
	const number = value ? `try_cast(${value.sql} AS FLOAT)` : "CAST(NULL AS FLOAT)";
	const further = columns.map((column) => {
		const known = table.columns.find(({ name }) => name === column);
		if (known) return `, CAST(${named(column)} AS VARCHAR) AS ${named(`column ${column}`)}`;
		throw new InputError(
			`the task asks for the column ${column}, which ${table.file} does not have; it has ${table.columns.map(({ name }) => name).join(", ")}`,
		);
	});
	return `SELECT ${idText(needColumn(table, wanted.subject))} AS subject, ${moment} AS moment,
		${needColumn(table, wanted.code).sql} AS code,
		CASE WHEN isfinite(${number}) THEN ${number} END AS value${further.join("")} FROM ${table.sql}`;
}
