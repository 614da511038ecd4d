import { InputError } from "../../base/errors.js";
import type { Column, Table } from "../records/sql.js";
import { withStore } from "../records/store.js";
import { openTable, rowOfFile, withNumberedRows } from "../records/table.js";
import { columnNamed, listed } from "../records/tables/columns.js";
import { plainText } from "../records/tables/values.js";
import { specialCount, type Vocabulary } from "./vocabulary.js";

type Row = {
	readonly row: number;
	readonly code: string;
	readonly system: string | null;
	/** The numbers, as `v0`, `v1` …; null where a cell holds none. */
	readonly [number: `v${number}`]: number | null;
};

const memory = 2 ** 30;
const mostListed = 10;

/** The columns of a table of embeddings: `code` or the first one, `system` if there is one, and numbers. */
function columnsOf(table: Table, width: number) {
	const system = columnNamed([table], "system");
	const code = columnNamed([table], "code") ?? table.columns.find((column) => column !== system);
	const numbers = table.columns.filter((column) => column !== code && column !== system);
	if (!code || numbers.length === 0)
		throw new InputError(
			`${table.file} has ${listed(table.columns)}; expected a column of codes and one column per number`,
		);
	if (numbers.length !== width)
		throw new InputError(
			`${table.file} has ${numbers.length} numbers per code; the model's embeddings have ${width}: set \`settings\` dim=${numbers.length}, or name a file with ${width}`,
		);
	return { code, system, numbers };
}

/** The rows of codes in the vocabulary, in the order of the file. */
async function rowsOf(
	file: string,
	{ tokens }: Vocabulary,
	width: number,
): Promise<{
	readonly rows: readonly Row[];
	readonly table: Table;
	readonly numbers: readonly Column[];
}> {
	return withStore({ memory, files: [file] }, async (store) => {
		const table = await openTable(store, file);
		const { code, system, numbers } = columnsOf(table, width);
		await store.create("known_code", "code VARCHAR");
		const known = new Set(tokens.slice(specialCount).map(({ code }) => code));
		await store.append(
			"known_code",
			Array.from(known, (code) => ({ code })),
		);
		const codeText = plainText(code, "whole");
		const rows = await withNumberedRows(store, table, table.columns, (from) =>
			store.all<Row>(`
				SELECT ${rowOfFile} AS row, ${codeText} AS code,
					${system ? `nullif(${plainText(system)}, '')` : "NULL"} AS system,
					${numbers.map(({ sql }, i) => `TRY_CAST(${sql} AS DOUBLE) AS v${i}`).join(", ")}
				FROM ${from} WHERE ${codeText} IN (SELECT code FROM known_code) ORDER BY row`),
		);
		return { rows, table, numbers };
	});
}

/**
 * The embeddings of a vocabulary's codes from a table with a code, perhaps its system, and so many numbers per row:
 * [tokens, width]. Special tokens, of which no table knows, have zeros; rows of other codes are ignored.
 */
export async function readCodeEmbeddings(
	file: string,
	vocabulary: Vocabulary,
	width: number,
): Promise<Float32Array> {
	const { tokens, size } = vocabulary;
	const { rows, table, numbers } = await rowsOf(file, vocabulary, width);
	const values = new Float32Array(size * width);
	const rowOf = new Map<number, number>();
	const tokensOf = new Map<string, number[]>();
	for (let token = specialCount; token < size; token++) {
		const same = tokensOf.get(tokens[token].code);
		if (same) same.push(token);
		else tokensOf.set(tokens[token].code, [token]);
	}
	const refuse = async (row: number, what: string): Promise<never> => {
		throw new InputError(`${await table.places([row])}: ${what}`);
	};
	for (const cells of rows) {
		const { row, code, system } = cells;
		const isOfSystem = (token: number) =>
			system === null || tokens[token].system?.toLowerCase() === system.toLowerCase();
		for (const token of (tokensOf.get(code) ?? []).filter(isOfSystem)) {
			const first = rowOf.get(token);
			if (first !== undefined)
				await refuse(
					row,
					`code ${code} has its numbers in ${await table.places([first])} already; keep one of the two`,
				);
			rowOf.set(token, row);
			for (let i = 0; i < width; i++) {
				const value = Math.fround(cells[`v${i}`] ?? Number.NaN);
				if (!Number.isFinite(value))
					await refuse(row, `column ${numbers[i].name} holds no finite number; expected one`);
				values[token * width + i] = value;
			}
		}
	}
	const missing = tokens.filter((_, token) => token >= specialCount && !rowOf.has(token));
	if (missing.length > 0) {
		const names = missing.slice(0, mostListed).map(({ code, system }) => `${code} (${system})`);
		throw new InputError(
			`${file} has no numbers for ${missing.length} of the dataset's ${size - specialCount} codes: ${names.join(", ")}${missing.length > mostListed ? ", …" : ""}; add them, or prepare the dataset without these codes`,
		);
	}
	return values;
}
