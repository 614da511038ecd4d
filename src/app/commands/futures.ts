import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { InputError } from "../../base/errors.js";
import { type Column, columnsOf, writeColumns } from "../../base/files/column-file.js";
import { checkFolderTarget, replaceFolder } from "../../base/files/index.js";
import { simulatedText } from "../../base/simulated.js";
import { percent, table } from "../../base/table.js";
import { thousands } from "../../base/thousands.js";
import { dayMilliseconds } from "../../base/time.js";
import { deathRecord } from "../../data/cohort/reading/rules.js";
import type { Token } from "../../data/cohort/vocabulary.js";
import { checkTableFile } from "../../model/train/output-file.js";
import { shareError } from "../../predict/futures.js";
import { type FuturesResult, futures } from "../../predict/trained/futures.js";
import {
	dayText,
	momentForms,
	momentJson,
	patientText,
	spanText,
} from "../../predict/user-input/moments.js";
import { defineCommand } from "./define-command.js";
import { decimal, file, flag, folder, moment, option, seed, text, whole } from "./fields.js";
import { printJson, tell } from "./io.js";
import { openRun, runArgument } from "./open-run.js";
import { openQueried, patientFields, patientFlags } from "./patients.js";

const description = `Sample whole futures of a patient after an index day: when there are visits, which codes are
recorded there, and whether the patient dies. Prints visits per year, codes per visit, and the most
frequent new codes: the share of futures that record each, and the risk in closed form beside it
(see \`trajgpt risk\`). The same seed gives the same futures.

TIME is ${momentForms}.`;

export const command = defineCommand({
	name: "futures",
	description,
	arguments: runArgument,
	options: {
		patient: text("id", "the patient; required if there are several"),
		at: option("time", "index day (default: the last record)", moment),
		years: decimal(0.01, 100).default(5).describe("how far futures go, in years"),
		samples: whole(1, 1_000_000).default(100).describe("number of futures"),
		seed: seed.default(0).describe("seed of the futures"),
		top: whole(1, 100_000).default(10).describe("new codes to list"),
		output: file("also write all records to this .parquet or .csv file"),
		meds: folder("also write a MEDS dataset, one subject per future"),
		force: flag("replace existing files"),
		json: flag("print one JSON document, with all futures"),
		...patientFields,
	},
	examples: {
		"trajgpt futures runs/demo/run --patient p001146": "100 futures of five years",
		"trajgpt futures run --input bundle.json --years 10 --samples 1000 --output futures.parquet":
			"a new patient; every record of every future as a table",
		"trajgpt futures run --patient p7 --at age:60 --meds futures":
			"after the age of 60, as a MEDS dataset: one subject per future",
	},
	flags: patientFlags,
	async run(io, { run: folder, ...options }) {
		const { output, meds, force = false } = options;
		await checkTableFile(output, force);
		if (meds !== undefined) await checkMedsTarget(meds, force, output);
		const trained = openRun(io, folder);
		const queried = await openQueried(io, trained, options);
		if (meds !== undefined && queried.axis !== "dates")
			throw new InputError(
				"MEDS needs dates, and these records have days alone; write the futures to a .csv or .parquet file with `output`",
				{ field: "meds" },
			);
		const result = await futures(trained, queried, options);
		tell(io, { warnings: result.warnings });
		if (options.json)
			printJson(io, {
				run: folder,
				...futuresJson(result),
				unknown: queried.unknown,
				notes: queried.notes,
				warnings: result.warnings,
			});
		else io.stdout.write(futuresText(result, options.top));
		if (output !== undefined) {
			await writeColumns(output, futureColumns(result));
			io.stderr.write(`written: ${output}\n`);
		}
		if (meds !== undefined) {
			await writeMeds(meds, result);
			io.stderr.write(`written: ${meds}\n`);
		}
	},
});

function futuresText(result: FuturesResult, top: number): string {
	const { patient, axis, at, days, futures, dead, newCodes, vocabulary, simulated } = result;
	const shareText = (share: number) =>
		`${percent(share)} ± ${(100 * shareError(share, futures.length)).toFixed(1)}`;
	const riskText = (risk: number | undefined) => (risk === undefined ? "" : percent(risk));
	const rows = newCodes.slice(0, top).map(({ token, share, risk }) => {
		const { code, name } = vocabulary.tokens[token] as Token;
		return [code === name ? code : `${code} ${name}`, shareText(share), riskText(risk)];
	});
	const count = thousands(futures.length);
	return [
		`${patientText(patient, axis)}\n`,
		...(simulated ? [`${simulatedText}\n`] : []),
		`\n${count} ${futures.length === 1 ? "future" : "futures"} of ${spanText(days)} after ${dayText(at, axis)}, seed ${result.seed}:\n`,
		`  ${result.visitsPerYear.toFixed(1)} visits per year, ${result.codesPerVisit.toFixed(2)} codes per visit\n`,
		`  dead at the end: ${shareText(dead.share)}${dead.risk === undefined ? "" : `, in closed form ${percent(dead.risk)}`}\n`,
		rows.length === 0
			? "\nNo new code is recorded in any future.\n"
			: `\nNew codes, by the share of futures that record them:\n\n${table(["", "futures", "closed form"], rows)}`,
		"\n±: standard error of the share. Closed form: the risk from the hazards of the code itself.\n",
	].join("");
}

const death = { ...deathRecord, name: "death" };

/** All records of all futures, which are counted from 1; the last one of each may be death. */
const rowsOf = ({ futures, vocabulary }: FuturesResult) =>
	futures.flatMap(({ tokens, times, death: dies }, i) => [
		...Array.from(tokens, (token, n) => ({
			future: i + 1,
			day: times[n] as number,
			token: vocabulary.tokens[token] as Token,
		})),
		...(dies === null ? [] : [{ future: i + 1, day: dies, token: death }]),
	]);

function futuresJson(result: FuturesResult) {
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
		days,
		samples: result.futures.length,
		seed,
		visitsPerYear: result.visitsPerYear,
		codesPerVisit: result.codesPerVisit,
		dead: { share: result.dead.share, risk: result.dead.risk ?? null },
		newCodes: result.newCodes.map(({ token, share, risk = null }) => ({
			...tokenJson(token),
			share,
			risk,
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
function futureColumns(result: FuturesResult): Column[] {
	const { patient, axis } = result;
	const isDated = axis === "dates";
	return columnsOf(rowsOf(result), {
		patient: ["text", () => patient.id],
		future: ["count", ({ future }) => future],
		date: isDated && ["text", ({ day }) => momentJson(day, patient.birth, axis).date ?? null],
		day: ["number", ({ day }) => day],
		code: ["text", ({ token }) => token.code],
		system: ["text", ({ token }) => token.system],
		name: ["text", ({ token }) => token.name],
	});
}

const medsFiles = ["data/0.parquet", "metadata/codes.parquet"];

/** Only folders with this file are replaced: a MEDS dataset of other origin is the user's own. */
const medsMarker = join("metadata", "trajgpt-futures.json");

/** Refuses a folder for MEDS that may not be replaced; call it before long work. */
async function checkMedsTarget(
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

/**
 * Futures as a MEDS dataset: `data/0.parquet` and `metadata/codes.parquet`. Each future is a subject; `patient_id` and
 * `future` say which, and `prediction_time` is the end of the index day. Birth, sex and death are MEDS's own codes.
 * `metadata/trajgpt-futures.json` says how the futures were sampled.
 */
async function writeMeds(folder: string, result: FuturesResult): Promise<void> {
	const { patient, at, futures } = result;
	const medsCode = ({ code, system }: Pick<Token, "code" | "system">) =>
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
	const predicted = dateOf(Math.floor(at) + 1 - 1 / dayMilliseconds);
	const names = new Map(records.map(({ token }) => [medsCode(token), token.name]));
	await replaceFolder(folder, async (partial) => {
		const write = async (name: string, columns: Column[]) => {
			await mkdir(dirname(join(partial, name)), { recursive: true });
			await writeColumns(join(partial, name), columns);
		};
		await write(
			"data/0.parquet",
			columnsOf(rows, {
				subject_id: ["id", ({ future }) => future],
				time: ["time", ({ day }) => (day === null ? null : dateOf(day))],
				code: ["text", ({ code }) => code],
				prediction_time: ["time", () => predicted],
				patient_id: ["text", () => patient.id],
				future: ["id", ({ future }) => future],
			}),
		);
		await write(
			"metadata/codes.parquet",
			columnsOf([...names], {
				code: ["text", ([code]) => code],
				description: ["text", ([, name]) => name],
			}),
		);
		const origin = {
			...(result.simulated && { population: simulatedText }),
			patient: patient.id,
			days: result.days,
			samples: futures.length,
			seed: result.seed,
		};
		await writeFile(join(partial, medsMarker), `${JSON.stringify(origin, null, 2)}\n`);
	});
}
