import { InputError } from "../../../base/errors.js";
import { openDelimited } from "../delimited.js";
import { named, quoted } from "../sql.js";
import type { Store } from "../store.js";
import { delimitedTable, rowOfFile, type Table, withNumberedRows } from "../table.js";

const conceptColumns = [
	"condition_concept_id",
	"concept_id",
	"standard_concept_id",
	"omop_concept_id",
	"target_concept_id",
];
const expected = "expected columns such as concept_id,icd9 or concept_id,icd10";

/** Reads a table of concepts and their ICD codes into `omop_map(concept, system, code)`. */
export async function stageConceptMap(
	store: Store,
	file: string,
	sourceSystem: string | undefined,
): Promise<void> {
	const table = delimitedTable(await openDelimited(file));
	const { concept, code, system } = columnsOf(table, sourceSystem);
	const numbers = `try_cast(${named(concept)} AS BIGINT)`;
	await withNumberedRows(store, table, [concept, code], (rows) =>
		store.run(`CREATE TEMP TABLE omop_map_row AS SELECT ${rowOfFile} AS row, ${numbers} AS concept,
			nullif(trim(${named(code)}), '') AS code, ${named(concept)} AS got FROM ${rows}`),
	);
	const [bad] = await store.all<{ row: number; got: string | null }>(
		"SELECT row, left(got, 40) AS got FROM omop_map_row WHERE concept IS NULL ORDER BY row LIMIT 1",
	);
	if (bad)
		throw new InputError(
			`${await table.place(bad.row)}: ${concept} is ${bad.got === null ? "empty" : JSON.stringify(bad.got)}; expected the number of an OMOP concept`,
		);
	const [twice] = await store.all<{ concept: number; row: number }>(
		`SELECT concept, max(row) AS row FROM omop_map_row WHERE code IS NOT NULL
		GROUP BY concept HAVING count(DISTINCT code) > 1 ORDER BY row LIMIT 1`,
	);
	if (twice)
		throw new InputError(
			`${await table.place(twice.row)} gives concept ${twice.concept} another code than a line before it; keep one code per concept`,
		);
	await store.run(`INSERT INTO omop_map SELECT concept, ${quoted(system)}, any_value(code)
		FROM omop_map_row WHERE code IS NOT NULL GROUP BY concept`);
	await store.run("DROP TABLE omop_map_row");
}

function columnsOf({ file, columns: all }: Table, sourceSystem: string | undefined) {
	const columns = all.map(({ name }) => name);
	const has = `it has ${columns.join(", ")}`;
	const concept = conceptColumns
		.map((name) => columns.find((column) => column.toLowerCase() === name))
		.find((column) => column !== undefined);
	if (concept === undefined)
		throw new InputError(`${file} has no column of concepts; ${has}; ${expected}`);
	const codes = columns.flatMap((column) => {
		const [, version] = /^icd[-_ ]?(9|10)?(?!\d)/i.exec(column) ?? [null, null];
		if (version === null) return [];
		return [{ column, system: version && (version === "9" ? "ICD9CM" : "ICD10CM") }];
	});
	const fitting = codes.filter(({ system }) => !system || !sourceSystem || system === sourceSystem);
	const [chosen, other] = fitting;
	if (!chosen)
		throw new InputError(
			codes.length === 0
				? `${file} has no column of ICD codes; ${has}; ${expected}`
				: `${file} has no column of ${sourceSystem} codes, which \`sourceSystem\` asks for; ${has}`,
		);
	if (other)
		throw new InputError(
			chosen.system !== other.system
				? `${file} has codes in ${chosen.column} and ${other.column}; say which to take with \`sourceSystem\` icd9 or icd10`
				: `${file} has codes in ${chosen.column} and ${other.column}; keep one of these columns`,
		);
	const system = chosen.system || sourceSystem;
	if (!system)
		throw new InputError(
			`${file}: the column ${chosen.column} does not say which ICD it holds; pass \`sourceSystem\` icd9 or icd10`,
		);
	return { concept, code: chosen.column, system };
}
