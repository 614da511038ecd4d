import { InputError } from "../../../base/errors.js";
import { openDelimited } from "../delimited.js";
import { quoted, type Table } from "../sql.js";
import type { Store } from "../store.js";
import { stageRows } from "../table.js";
import { columnOf, noColumn } from "../tables/columns.js";

/**
 * Creates `omop_known` (concepts with a code of their own) and `omop_icd`: the ICD code of every condition concept
 * that has one. The first rule that applies counts: the concept belongs to ICD; ICD codes are mapped to it (of
 * several the valid one, of the requested system, the shortest, the first in order); the concept map has it.
 * `choices` counts the candidates.
 */
export async function resolveConcepts(store: Store, preferred: string | undefined): Promise<void> {
	await store.run(`CREATE TEMP TABLE omop_known AS
		SELECT concept, arg_min(system, row) AS system, arg_min(code, row) AS code, bool_or(icd) AS icd
		FROM omop_concept WHERE system IS NOT NULL AND code IS NOT NULL AND concept <> 0
		GROUP BY concept`);
	await store.run(`CREATE TEMP TABLE omop_related AS
		SELECT concept, system, code, count(*) OVER (PARTITION BY concept, system) AS choices
		FROM (SELECT DISTINCT r.standard AS concept, c.system, c.code, c.current
			FROM omop_concept_relationship r JOIN omop_concept c ON c.concept = r.source AND c.icd
			WHERE c.code IS NOT NULL AND r.standard <> 0)
		QUALIFY row_number() OVER (PARTITION BY concept ORDER BY current DESC,
			system = ${quoted(preferred ?? "ICD10CM")} DESC, length(code), code, system) = 1`);
	await store.run(`CREATE TEMP TABLE omop_icd AS
		SELECT concept, arg_min(system, way) AS system, arg_min(code, way) AS code,
			arg_min(choices, way) AS choices
		FROM (SELECT concept, system, code, 1 AS choices, 1 AS way FROM omop_known WHERE icd
			UNION ALL SELECT concept, system, code, choices, 2 FROM omop_related
			UNION ALL SELECT concept, system, code, 1, 3 FROM omop_map WHERE concept <> 0)
		GROUP BY concept`);
}

interface Resolved {
	/** SQL for the system and code of the row; NULL if there is none. */
	readonly system: string;
	readonly code: string;
}

const omop: Resolved = {
	system: "CASE WHEN e.concept <> 0 OR e.source_concept <> 0 THEN 'OMOP' END",
	code: "CAST(coalesce(nullif(e.concept, 0), nullif(e.source_concept, 0)) AS VARCHAR)",
};

const first = (ways: readonly Resolved[]): Resolved => ({
	system: `coalesce(${ways.map((way) => way.system).join(", ")})`,
	code: `coalesce(${ways.map((way) => way.code).join(", ")})`,
});

const of = (alias: string): Resolved => ({ system: `${alias}.system`, code: `${alias}.code` });

/** The code of a row of a staged table `e`, and the joins it needs. */
export interface Resolution extends Resolved {
	readonly joins: string;
	/** Whether the code comes from the source and not from the concept; NULL counts as false. */
	readonly bySource: string;
}

const joins = (source: string, concept: string): string =>
	`LEFT JOIN ${source} s ON s.concept = e.source_concept LEFT JOIN ${concept} c ON c.concept = e.concept`;

export function conditionCodes(sourceSystem: string | undefined): Resolution {
	const value: Resolved[] = sourceSystem
		? [
				{
					system: `CASE WHEN e.source_value IS NOT NULL THEN ${quoted(sourceSystem)} END`,
					code: "e.source_value",
				},
			]
		: [];
	return {
		...first([of("s"), ...value, of("c"), omop]),
		joins: joins("(SELECT * FROM omop_known WHERE icd)", "omop_icd"),
		bySource: `s.concept IS NOT NULL OR ${sourceSystem ? "e.source_value IS NOT NULL" : "false"}`,
	};
}

/** Of drugs and measurements: the code of the standard concept, else of the source concept. */
export const standardCodes: Resolution = {
	system: `CASE WHEN e.concept <> 0 THEN coalesce(c.system, 'OMOP') ELSE coalesce(s.system, ${omop.system}) END`,
	code: `CASE WHEN e.concept <> 0 THEN coalesce(c.code, ${omop.code}) ELSE coalesce(s.code, ${omop.code}) END`,
	joins: joins("omop_known", "omop_known"),
	bySource: "false",
};

/**
 * Without a vocabulary, a source value of an observation counts as ICD only if no procedure code (CPT, HCPCS) has
 * this form, because these are in the same column.
 */
const shapes: Readonly<Record<string, string>> = {
	ICD9CM: "(V[0-9]{2}(\\.?[0-9]{1,2})?|E[89][0-9]{2}(\\.?[0-9])?|[0-9]{3}\\.[0-9]{1,2})",
	ICD10CM: "([W-Z][0-9][0-9A-Z](\\.?[0-9A-Z]{1,4})?|[A-Z][0-9][0-9A-Z]\\.[0-9A-Z]{1,4})",
};

/** Diagnoses among the observations, recognised by their source only. */
export function observationCodes(sourceSystem: string | undefined): Resolution {
	const shape = sourceSystem ? shapes[sourceSystem] : undefined;
	const fits = `k.concept IS NULL AND regexp_full_match(e.source_value, ${quoted(shape ?? "")})`;
	const ways = [of("s")];
	if (sourceSystem && shape)
		ways.push({
			system: `CASE WHEN ${fits} THEN ${quoted(sourceSystem)} END`,
			code: `CASE WHEN ${fits} THEN e.source_value END`,
		});
	return {
		...first(ways.length > 1 ? ways : [...ways, { system: "NULL", code: "NULL" }]),
		joins: `LEFT JOIN (SELECT * FROM omop_known WHERE icd) s ON s.concept = e.source_concept
			LEFT JOIN (SELECT DISTINCT concept FROM omop_concept WHERE concept <> 0) k ON k.concept = e.source_concept`,
		bySource: "true",
	};
}

/**
 * A source code that is mapped to two concepts has two rows with the same meaning: removes the rows of all concepts
 * but the first, and counts them. Few codes have several concepts, so few rows are sorted.
 */
export async function mergeConcepts(
	store: Store,
	staged: string,
	{ system, code, joins, bySource }: Resolution,
): Promise<number> {
	if (bySource === "false") return 0;
	const coded = `(SELECT e.row, e.patient, e.time, coalesce(e.concept, 0) AS concept,
			${system} AS system, ${code} AS code
		FROM ${staged} e ${joins} WHERE ${bySource})`;
	await store.run(`CREATE TEMP TABLE omop_several AS SELECT system, code FROM ${coded}
		WHERE system IS NOT NULL GROUP BY system, code HAVING min(concept) <> max(concept)`);
	await store.run(`CREATE TEMP TABLE omop_again AS SELECT row
		FROM (SELECT row, concept, first_value(concept) OVER (
				PARTITION BY patient, time, system, code ORDER BY row) AS kept
			FROM ${coded} SEMI JOIN omop_several USING (system, code))
		WHERE concept <> kept`);
	const again = await store.count("omop_again");
	if (again > 0) await store.run(`DELETE FROM ${staged} WHERE row IN (SELECT row FROM omop_again)`);
	await store.run("DROP TABLE omop_several");
	await store.run("DROP TABLE omop_again");
	return again;
}

const conceptColumns = [
	"condition_concept_id",
	"concept_id",
	"standard_concept_id",
	"omop_concept_id",
	"target_concept_id",
];
const expected = "columns such as concept_id,icd9 or concept_id,icd10";

/** Reads a table of concepts and their ICD codes into `omop_map(concept, system, code)`. */
export async function stageConceptMap(
	store: Store,
	file: string,
	sourceSystem: string | undefined,
): Promise<void> {
	const table = await openDelimited(file);
	const concept = columnOf(table, conceptColumns);
	if (!concept) throw noColumn(table, "of concepts", expected);
	const { code, system } = codesIn(table, sourceSystem);
	const columns = {
		concept: `try_cast(${concept.sql} AS BIGINT)`,
		code: `nullif(trim(${code.sql}), '')`,
		got: `left(${concept.sql}, 40)`,
	};
	await stageRows(store, table, "omop_map_row", columns, {
		reads: [concept, code],
		faults: [
			{
				when: "concept IS NULL",
				say: ({ got }) =>
					`: ${concept.name} is ${got === null ? "empty" : JSON.stringify(got)}; expected the number of an OMOP concept`,
			},
			{
				when: "code <> (SELECT arg_min(code, row) FROM omop_map_row AS before WHERE before.concept = omop_map_row.concept)",
				say: (row) =>
					` gives concept ${row.concept} another code than a line before it; keep one code per concept`,
			},
		],
	});
	await store.run(`INSERT INTO omop_map SELECT concept, ${quoted(system)}, any_value(code)
		FROM omop_map_row WHERE code IS NOT NULL GROUP BY concept`);
	await store.run("DROP TABLE omop_map_row");
}

/** The column of ICD codes, and the system that it holds. */
function codesIn(table: Table, sourceSystem: string | undefined) {
	const { file } = table;
	const codes = table.columns.flatMap((column) => {
		const [, version] = /^icd[-_ ]?(9|10)?(?!\d)/i.exec(column.name) ?? [null, null];
		if (version === null) return [];
		return [{ code: column, system: version && (version === "9" ? "ICD9CM" : "ICD10CM") }];
	});
	const fitting = codes.filter(({ system }) => !system || !sourceSystem || system === sourceSystem);
	const [chosen, other] = fitting;
	if (!chosen)
		throw noColumn(
			table,
			codes.length === 0
				? "of ICD codes"
				: `of ${sourceSystem} codes, which \`sourceSystem\` asks for`,
			expected,
		);
	if (other)
		throw new InputError(
			`${file} has codes in ${chosen.code.name} and ${other.code.name}; ${
				chosen.system === other.system
					? "keep one of these columns"
					: "say which to take with `sourceSystem` icd9 or icd10"
			}`,
		);
	const system = chosen.system || sourceSystem;
	if (!system)
		throw new InputError(
			`${file}: the column ${chosen.code.name} does not say which ICD it holds; pass \`sourceSystem\` icd9 or icd10`,
		);
	return { code: chosen.code, system };
}
