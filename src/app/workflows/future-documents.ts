import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { InputError } from "../../base/errors.js";
import { type Column, writeColumns } from "../../base/files/column-file.js";
import { checkFolderTarget, replaceFolder } from "../../base/files/index.js";
import { simulatedText } from "../../base/simulated.js";
import { dayMilliseconds } from "../../base/time.js";
import { deathRecord } from "../../data/cohort/reading/rules.js";
import type { Token } from "../../data/cohort/vocabulary.js";
import { momentJson } from "../../predict/user-input/index.js";
import type { FuturesResult } from "./futures.js";

/** A record of a future; the last one may be death. */
interface FutureRow {
	/** From 1. */
	readonly future: number;
	readonly day: number;
	readonly token: Pick<Token, "code" | "system" | "name">;
}

const death = { ...deathRecord, name: "death" };

/** All records of all futures. */
function rowsOf({ futures, vocabulary }: FuturesResult): FutureRow[] {
	return futures.flatMap(({ tokens, times, death: dies }, i) => [
		...Array.from(tokens, (token, n) => ({
			future: i + 1,
			day: times[n] as number,
			token: vocabulary.tokens[token] as Token,
		})),
		...(dies === null ? [] : [{ future: i + 1, day: dies, token: death }]),
	]);
}

/** Futures as a JSON value. */
export function futuresJson(result: FuturesResult) {
	const { patient, axis, vocabulary, at, days, seed } = result;
	const moment = (time: number) => momentJson(time, patient.birth, axis);
	const tokenJson = (token: number) => {
		const { code, system, name } = vocabulary.tokens[token] as Token;
		return { code, system, name };
	};
	return {
		...(result.simulated && { population: simulatedText }),
		patient: { id: patient.id, sex: patient.sex },
		index: moment(at),
		...{ days, samples: result.futures.length, seed },
		...{ visitsPerYear: result.visitsPerYear, codesPerVisit: result.codesPerVisit },
		dead: { share: result.dead.share, risk: result.dead.risk ?? null },
		newCodes: result.newCodes.map(({ token, share, risk = null }) => ({
			...tokenJson(token),
			...{ share, risk },
		})),
		futures: result.futures.map(({ tokens, times, death: dies }) => ({
			death: dies === null ? null : moment(dies),
			records: Array.from(tokens, (token, n) => ({
				...moment(times[n] as number),
				...tokenJson(token),
			})),
		})),
	};
}

/** One row per record; death is a record of code `death`. */
export function futureColumns(result: FuturesResult): Column[] {
	const { patient, axis } = result;
	const rows = rowsOf(result);
	const moments = rows.map(({ day }) => momentJson(day, patient.birth, axis));
	const text = (name: string, of: (row: FutureRow, at: number) => string | null): Column => ({
		name,
		type: "text",
		values: rows.map(of),
	});
	return [
		text("patient", () => patient.id),
		{ name: "future", type: "count", values: rows.map(({ future }) => future) },
		...(axis === "dates" ? [text("date", (_, at) => moments[at]?.date ?? null)] : []),
		{ name: "day", type: "number", values: rows.map(({ day }) => day) },
		text("code", ({ token }) => token.code),
		text("system", ({ token }) => token.system),
		text("name", ({ token }) => token.name),
	];
}

const medsFiles = ["data/0.parquet", "metadata/codes.parquet"];

/** Only folders with this file are replaced: a MEDS dataset of other origin is the user's own. */
const medsMarker = join("metadata", "trajgpt-futures.json");

/** Refuses a folder for MEDS that may not be replaced; call it before long work. */
export async function checkMedsTarget(
	folder: string,
	replace: boolean,
	output: string | undefined,
): Promise<void> {
	if (output !== undefined && resolve(output) === resolve(folder))
		throw new InputError(`\`output\` and \`meds\` are both ${folder}; give them different names`, {
			field: "meds",
			value: folder,
		});
	await checkFolderTarget(folder, replace, medsMarker, medsFiles);
}

/** Refuses to write MEDS for records without dates. */
export function checkMeds(axis: FuturesResult["axis"]): void {
	if (axis !== "dates")
		throw new InputError(
			"MEDS needs dates, and these records have days alone; write the futures to a .csv or .parquet file with `output`",
			{ field: "meds" },
		);
}

/**
 * Futures as a MEDS dataset: `data/0.parquet` and `metadata/codes.parquet`. Each future is a subject; `patient_id` and
 * `future` say which, and `prediction_time` is the end of the index day. Birth, sex and death are MEDS's own codes.
 * `metadata/trajgpt-futures.json` says how the futures were sampled.
 */
export async function writeMeds(folder: string, result: FuturesResult): Promise<void> {
	checkMeds(result.axis);
	const { patient, at, futures } = result;
	const medsCode = ({ code, system }: FutureRow["token"]) =>
		system === death.system ? "MEDS_DEATH" : system === null ? code : `${system}//${code}`;
	// MEDS wants the rows of a subject by time, those without a time first.
	const facts = [
		...(patient.sex === null
			? []
			: [{ day: null, code: `GENDER//${patient.sex === "female" ? "F" : "M"}` }]),
		...(patient.birth === null ? [] : [{ day: patient.birth, code: "MEDS_BIRTH" }]),
	];
	const records = rowsOf(result);
	const rows = [
		...futures.flatMap((_, i) => facts.map((fact) => ({ ...fact, future: i + 1 }))),
		...records.map(({ day, token, future }) => ({ day, future, code: medsCode(token) })),
	].sort((a, b) => a.future - b.future); // stable: facts come first
	const dateOf = (day: number) => new Date(Math.round(day * dayMilliseconds));
	const numbers = rows.map(({ future }) => future);
	const names = new Map(records.map(({ token }) => [medsCode(token), token.name]));
	await replaceFolder(folder, async (partial) => {
		for (const name of ["data", "metadata"]) await mkdir(join(partial, name), { recursive: true });
		await writeColumns(join(partial, "data", "0.parquet"), [
			{ name: "subject_id", type: "id", values: numbers },
			{
				name: "time",
				type: "time",
				values: rows.map(({ day }) => (day === null ? null : dateOf(day))),
			},
			{ name: "code", type: "text", values: rows.map(({ code }) => code) },
			{
				name: "prediction_time",
				type: "time",
				values: rows.map(() => dateOf(Math.floor(at) + 1 - 1 / dayMilliseconds)),
			},
			{ name: "patient_id", type: "text", values: rows.map(() => patient.id) },
			{ name: "future", type: "id", values: numbers },
		]);
		await writeColumns(join(partial, "metadata", "codes.parquet"), [
			{ name: "code", type: "text", values: [...names.keys()] },
			{ name: "description", type: "text", values: [...names.values()] },
		]);
		const origin = {
			...(result.simulated && { population: simulatedText }),
			...{ patient: patient.id, days: result.days, samples: futures.length, seed: result.seed },
		};
		await writeFile(join(partial, medsMarker), `${JSON.stringify(origin, null, 2)}\n`);
	});
}
