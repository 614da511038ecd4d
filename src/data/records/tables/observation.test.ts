import { join } from "node:path";
import { expect, test } from "vitest";
import { openEvents } from "../events.js";
import { checkCase, folderOf, formatCases, refused } from "../testing/format-cases.js";
import { load } from "../testing/load.js";
import { openCsv, withObservation } from "./index.js";

const day = (date: string) => Date.parse(`${date}Z`) / 86_400_000;
const claims = String.raw`a.csv: patient,date,icd9\na,2020-01-01,4019\nb,2020-01-02,25000\nb,2020-03-01,4019\n`;
const header = String.raw`${claims} | p.csv: patient,start,end\n`;
const year = String.raw`a,2019-01-01,2020-12-31\n`;

const cases = String.raw`
days of patients, in the order of the file | ${header}b,2020-01-01 08:30:00,2020-06-30 23:00:00\na,2019-01-01,2019-01-01\nb,2018-01-01,2019-12-31\n | observation: file | periods: b ${day("2020-01-01")} ${day("2020-06-30")} ; a ${day("2019-01-01")} ${day("2019-01-01")} ; b ${day("2018-01-01")} ${day("2019-12-31")} | notes: p.csv: 3 observation periods of 2 patients
patients without a record | ${claims} | p.csv: id,from,to\na,2019-01-01,2020-12-31\nz,2019-01-01,2020-12-31\n | notes: p.csv: 2 observation periods of 2 patients, 1 of them without a record
a date format and a delimiter | a.csv: patient;date;icd9\na;01/01/2020;4019\n | {"dateFormat": "%d/%m/%Y", "delimiter": ";"} | p.csv: patient;start;end\na;02/01/2019;31/12/2019\n | periods: a ${day("2019-01-02")} ${day("2019-12-31")}
periods that touch | ${header}a,2019-01-01,2019-12-31\na,2020-01-01,2020-12-31\n | periods(patient): a ; a
an end before the start | ${header}${year}b,2020-05-01,2020-04-30\n | refused: p.csv: line 3: end is "2020-04-30", before start "2020-05-01"; expected the last observed day, on or after the first: correct it or remove the row
periods that overlap by a day | ${header}${year}b,2019-01-01,2019-06-30\na,2020-12-31,2021-12-31\n | refused: p.csv: line 4: the period from "2020-12-31" to "2021-12-31" overlaps that of the same patient at & p.csv: line 2; expected periods without a day in common: join the two or correct one
a period within a later one | ${header}a,2019-03-01,2019-03-31\nb,2019-01-01,2019-06-30\na,2019-01-01,2020-12-31\n | refused: p.csv: line 2: the period from "2019-03-01" to "2019-03-31" overlaps that of the same patient at & p.csv: line 4;
a period twice | ${header}${year}${year} | refused: p.csv: line 3: the period from
no end | ${header}a,2019-01-01,\n | refused: p.csv: line 2: end is empty; every period needs its first and last day: fill it in or remove the row
a word for a start | ${header}a,spring,2019-01-01\n | refused: p.csv: line 2: start is "spring"; expected a date such as 2020-01-31
the year 9999 | ${header}a,2019-01-01,9999-12-31\n | refused: p.csv: line 2: end is "9999-12-31"; expected a year between 1800 and 2300
no patient | ${header},2019-01-01,2019-12-31\n | refused: p.csv: line 2: patient is empty; every period needs a patient
no rows | ${header} | refused: p.csv contains no rows below the header; expected one row
patients without a record alone | ${header}x,2019-01-01,2019-12-31\ny,2019-01-01,2019-12-31\n | refused: p.csv: none of its 2 patients has a record; expected the patient ids of the records: check the column
a name that states another unit | a.csv: patient,minute,icd9\na,36,4019\n | {"time": "minute", "timeIs": "minutes"} | p.csv: patient,start_day,end_day\na,0,3\n | refused: the name of column start_day states days, but its times are read in minutes, as those of the records; name their unit with ${"`observationTimeIs`"}
no column of ends | ${claims} | p.csv: patient,start\na,2019-01-01\n | refused: p.csv: no column is known to hold the last day of a period; call it end; there are patient, start
`;
test.each(formatCases(cases))("a file of observation periods: %s", (_, cells) =>
	checkCase(cells, async (main, options) =>
		withObservation(await openCsv(main, options), join(main, "../p.csv"), options),
	),
);

test("may be Parquet, and days where the records have days", async () => {
	const folder = await folderOf({
		"events.jsonl": '{"id":"7","types":[1,2],"times":[0.5,31]}\n',
		"periods.parquet": 'SELECT 7 AS patient, -2.5 AS start, 40 AS "end" UNION ALL SELECT 7, 50, 60',
	});
	const events = await openEvents(join(folder, "events.jsonl"));
	const { periods, axis } = await load(withObservation(events, join(folder, "periods.parquet")));
	expect(axis).toBe("days");
	expect(periods).toEqual([
		{ patient: "7", first: -3, last: 40 },
		{ patient: "7", first: 50, last: 60 },
	]);
});

test("replaces the periods of the source, with a note", async () => {
	const folder = await folderOf({
		"claims.csv": "patient,date,icd9\na,2020-01-01,4019\nb,2020-01-02,25000\n",
		"truth.json": '{"kind":"trajgpt-simulation"}',
		"coverage.csv": "patient,from,to\na,2019-01-01,2020-12-31\n",
		"periods/p.csv": "patient,start,end\nb,2019-01-01,2020-12-31\n",
	});
	const source = await openCsv(folder);
	const [first, last] = [day("2019-01-01"), day("2020-12-31")];
	const covered = { observation: "simulation", periods: [{ patient: "a", first, last }] };
	expect(await load(source)).toMatchObject(covered);
	const loaded = await load(withObservation(source, join(folder, "periods/p.csv")));
	expect(loaded).toMatchObject({ observation: "file", periods: [{ patient: "b" }] });
	expect(loaded.notes).toContain(
		"--observation names a file: the observation periods of the source are not used",
	);
	await refused(
		load(withObservation(source, join(folder, "none.csv"))),
		"none.csv",
		"no such file",
	);
});
