import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { InputError } from "../../../base/errors.js";
import { openEvents } from "../events.js";
import { load } from "../testing/load.js";
import { temporaryFolder } from "../testing/temporary-folder.js";
import { writeParquet } from "../testing/write-parquet.js";
import { openCsv, type TableOptions, withObservation } from "./index.js";

const claims = "patient,date,icd9\na,2020-01-01,4019\nb,2020-01-02,25000\nb,2020-03-01,4019\n";
const day = (date: string) => Date.parse(`${date}Z`) / 86_400_000;

async function read(periods: string, options: TableOptions = {}) {
	const folder = await temporaryFolder();
	const [main, file] = [join(folder, "claims.csv"), join(folder, "periods.csv")];
	await writeFile(main, claims);
	await writeFile(file, periods);
	const loaded = await load(withObservation(await openCsv(main), file, options));
	return { ...loaded, notes: loaded.notes.map((note) => note.replace(`${folder}/`, "")) };
}

async function refusal(periods: string, options: TableOptions = {}): Promise<string> {
	const error = await read(periods, options).then(
		() => undefined,
		(error) => error,
	);
	expect(error).toBeInstanceOf(InputError);
	return error.message.replaceAll(/\S*\/(?=periods\.csv)/g, "");
}

describe("observation periods in a file", () => {
	test("are days of patients, in the order of the file", async () => {
		const { periods, observation, notes } = await read(
			"patient,start,end\nb,2020-01-01 08:30:00,2020-06-30 23:00:00\na,2019-01-01,2019-01-01\nb,2018-01-01,2019-12-31\n",
		);
		expect(observation).toBe("file");
		expect(periods).toEqual([
			{ patient: "b", first: day("2020-01-01"), last: day("2020-06-30") },
			{ patient: "a", first: day("2019-01-01"), last: day("2019-01-01") },
			{ patient: "b", first: day("2018-01-01"), last: day("2019-12-31") },
		]);
		expect(notes).toContain("periods.csv: 3 observation periods of 2 patients");
	});

	test("count patients without a record", async () => {
		const { notes } = await read("id,from,to\na,2019-01-01,2020-12-31\nz,2019-01-01,2020-12-31\n");
		expect(notes).toContain(
			"periods.csv: 2 observation periods of 2 patients, 1 of them without a record",
		);
	});

	test("may be Parquet, and days where the records have days", async () => {
		const folder = await temporaryFolder();
		const events = join(folder, "events.jsonl");
		await writeFile(events, '{"id":"7","types":[1,2],"times":[0.5,31]}\n');
		const file = await writeParquet(
			join(folder, "periods.parquet"),
			'SELECT 7 AS patient, -2.5 AS start, 40 AS "end" UNION ALL SELECT 7, 50, 60',
		);
		const { periods, axis } = await load(withObservation(await openEvents(events), file));
		expect(axis).toBe("days");
		expect(periods).toEqual([
			{ patient: "7", first: -3, last: 40 },
			{ patient: "7", first: 50, last: 60 },
		]);
	});

	test("may have the date format and delimiter of the records", async () => {
		const { periods } = await read("patient;start;end\na;02/01/2019;31/12/2019\n", {
			dateFormat: "%d/%m/%Y",
			delimiter: ";",
		});
		expect(periods).toEqual([{ patient: "a", first: day("2019-01-02"), last: day("2019-12-31") }]);
	});

	test("replace those of the source, with a note", async () => {
		const folder = await temporaryFolder();
		await writeFile(join(folder, "claims.csv"), claims);
		await writeFile(join(folder, "truth.json"), '{"kind":"trajgpt-simulation"}');
		await writeFile(join(folder, "coverage.csv"), "patient,from,to\na,2019-01-01,2020-12-31\n");
		const source = await openCsv(folder);
		expect(await load(source)).toMatchObject({
			observation: "simulation",
			periods: [{ patient: "a", first: day("2019-01-01"), last: day("2020-12-31") }],
		});
		const file = join(folder, "periods.csv");
		await writeFile(file, "patient,start,end\nb,2019-01-01,2020-12-31\n");
		const loaded = await load(withObservation(source, file));
		expect(loaded).toMatchObject({ observation: "file", periods: [{ patient: "b" }] });
		expect(loaded.notes).toContain(
			"--observation names a file: the observation periods of the source are not used",
		);
	});
});

describe("a file of observation periods is refused if", () => {
	const header = "patient,start,end\n";
	const first = "a,2019-01-01,2020-12-31\n";

	test.each([
		[
			"a period ends before it starts",
			`${header}${first}b,2020-05-01,2020-04-30\n`,
			'periods.csv: line 3: end is "2020-04-30", before start "2020-05-01"; expected the last observed day, on or after the first: correct it or remove the row',
		],
		[
			"two periods of a patient overlap by a day",
			`${header}${first}b,2019-01-01,2019-06-30\na,2020-12-31,2021-12-31\n`,
			'periods.csv: line 4: the period from "2020-12-31" to "2021-12-31" overlaps that of the same patient at periods.csv: line 2; expected periods without a day in common: join the two or correct one',
		],
		[
			"a period contains another, further ones aside",
			`${header}a,2019-03-01,2019-03-31\nb,2019-01-01,2019-06-30\na,2019-01-01,2020-12-31\n`,
			'periods.csv: line 2: the period from "2019-03-01" to "2019-03-31" overlaps that of the same patient at periods.csv: line 4;',
		],
		["a period is repeated", `${header}${first}${first}`, "periods.csv: line 3: the period from"],
		[
			"an end is missing",
			`${header}a,2019-01-01,\n`,
			"periods.csv: line 2: end is empty; every period needs its first and last day: fill it in or remove the row",
		],
		[
			"a start is no date",
			`${header}a,spring,2019-01-01\n`,
			'periods.csv: line 2: start is "spring"; expected a date such as 2020-01-31',
		],
		[
			"a year is implausible",
			`${header}a,2019-01-01,9999-12-31\n`,
			'periods.csv: line 2: end is "9999-12-31"; expected a year between 1800 and 2300',
		],
		[
			"a patient is missing",
			`${header},2019-01-01,2019-12-31\n`,
			"periods.csv: line 2: patient is empty; every period needs a patient",
		],
		["it has no rows", header, "periods.csv contains no rows below the header; expected one row"],
		[
			"none of its patients has a record",
			`${header}x,2019-01-01,2019-12-31\ny,2019-01-01,2019-12-31\n`,
			"periods.csv: none of its 2 patients has a record; expected the patient ids of the records: check the column",
		],
		[
			"a column is missing",
			"patient,start\na,2019-01-01\n",
			"periods.csv: no column is known to hold the last day of a period; call it end; there are patient, start",
		],
	])("%s", async (_, periods, message) => {
		expect(await refusal(periods)).toContain(message);
	});

	test("it does not exist", async () => {
		const folder = await temporaryFolder();
		await writeFile(join(folder, "claims.csv"), claims);
		const source = withObservation(await openCsv(folder), join(folder, "none.csv"));
		await expect(load(source)).rejects.toThrow(/none\.csv.*no such file/);
	});
});

test("touching periods are accepted", async () => {
	const { periods } = await read(
		"patient,start,end\na,2019-01-01,2019-12-31\na,2020-01-01,2020-12-31\n",
	);
	expect(periods).toHaveLength(2);
});
