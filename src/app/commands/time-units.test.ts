import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { random } from "../../base/random.js";
import { type Dataset, openDataset, withLabels } from "../../data/cohort/index.js";
import { temporaryFolder } from "../../data/records/testing/temporary-folder.js";
import { writeParquet } from "../../data/records/testing/write-parquet.js";
import { captured, words } from "./testing/captured.js";

/** Stays in intensive care: minutes since the admission of records, on both sides of the first day. */
const draw = random(41);
const stays = new Map(
	Array.from({ length: 60 }, (_, at) => [
		`p${at}`,
		[
			...Array.from({ length: 2 + draw.integer(10) }, () => draw.integer(2880)),
			...(at % 3 === 0 ? [1440, 1441] : []),
			...(at % 5 === 0 ? [1439] : []),
		],
	]),
);
const ids = [...stays.keys()];
const table = (header: string, row: (id: string, at: number) => string) =>
	`${header}\n${ids.map((id, at) => `${row(id, at)}\n`).join("")}`;

let folder: string;
const at = (name: string) => join(folder, name);
const written = async (name: string, text: string) => {
	await writeFile(at(name), text);
	return at(name);
};

beforeEach(async () => {
	folder = await temporaryFolder();
	const rows = [...stays].flatMap(([id, minutes]) =>
		minutes.map((minute, n) => `${id},${minute},${401 + (n % 4)}.9\n`),
	);
	await written("stays.csv", `patient,minute,icd9\n${rows.join("")}`);
});

/** Prepares the stays, and gives what was printed and the dataset. */
async function prepared(...options: string[]) {
	const out = join(await temporaryFolder(), "data");
	const { code, stderr } = await captured(
		words`prepare ${at("stays.csv")} --from csv --time minute --time-is minutes --codes as-is --min-count 1 --min-records 1 --out ${out} ${options}`,
	);
	return { code, stderr, open: () => openDataset(out) };
}
const opened = async (...options: string[]) => (await prepared(...options)).open();

async function refused(options: readonly string[], ...messages: readonly string[]) {
	const { code, stderr } = await prepared(...options);
	expect([code, stderr]).toEqual([2, expect.stringContaining("error: ")]);
	for (const message of messages) expect(stderr).toContain(message);
}

/** The events that the labels of each patient see. */
async function seen(dataset: Dataset) {
	const labels = await dataset.labels("icu");
	return labels.map(({ patient, time, events, value }) => {
		return [dataset.idOf(patient), time, events, value];
	});
}

const firstDay = (time: string) =>
	table("patient,time,label", (id, at) => `${id},${time},${at % 2}`);
/** Counted without the reader: events up to and including minute 1,440, of patients who have any. */
const expected = ids
	.map((id, at) => {
		const events = (stays.get(id) as number[]).filter((minute) => minute <= 1440).length;
		return [id, 1, events, at % 2 === 1] as const;
	})
	.filter(([, , events]) => events > 0)
	.sort(([a], [b]) => (a < b ? -1 : 1));

describe("labels are in the unit of the records", () => {
	test("a label at minute 1,440 sees the events up to and including that minute", async () => {
		const file = await written("labels.csv", firstDay("1440"));
		const total = [...stays.values()].reduce((sum, { length }) => sum + length, 0);
		const visible = expected.reduce((sum, [, , events]) => sum + events, 0);
		expect(visible).toBeGreaterThan(0.3 * total);
		expect(visible).toBeLessThan(0.7 * total);

		const { stderr, open } = await prepared("--label", `icu=${file}`);
		const dataset = await open();
		expect(await seen(dataset)).toEqual(expected);
		expect(dataset.manifest.source.times).toEqual({ records: "minutes", labels: "minutes" });
		expect(stderr).not.toContain("warning");

		const plain = await opened();
		const later = await withLabels(plain, { task: "icu", file });
		expect(await seen(later.dataset)).toEqual(expected);
		expect(later.warnings).toEqual([]);
		const text = (source: string) => source.replace("time,", "time_minutes,");
		const stated = await written("stated.csv", text(firstDay("1440")));
		const same = await withLabels(plain, { task: "icu", file: stated });
		expect(await seen(same.dataset)).toEqual(expected);
	});

	test.each([
		["days", "1"],
		["hours", "24"],
	] as const)("or in %s, where an option says so", async (unit, time) => {
		const file = await written(`${unit}.csv`, firstDay(time));
		const options = ["--label", `icu=${file}`, "--label-time-is", unit];
		const { manifest, ...dataset } = await opened(...options);
		expect(await seen({ manifest, ...dataset })).toEqual(expected);
		expect(manifest.source.times).toEqual({ records: "minutes", labels: unit });
		const plain = await opened();
		const later = await withLabels(plain, { task: "icu", file, labelTimeIs: unit });
		expect(await seen(later.dataset)).toEqual(expected);
	});

	test.each([
		[
			"a date",
			firstDay("2019-05-31"),
			[],
			"line 2 has no time that can be read; expected a number (minutes)",
		],
		[
			"a column that states another unit",
			firstDay("1").replace("time,", "time_days,"),
			[],
			"the name of column time_days states days, but its times are read in minutes, as those of the records; name their unit with --label-time-is, or rename",
		],
		[
			"a column that may be the time",
			firstDay("1440").replace("time,", "minute,"),
			[],
			"column minute may be the time of the labels, but is not called so; call it time",
		],
		[
			"dates beside minutes",
			firstDay("1440"),
			["--label-time-is", "date"],
			"--label-time-is is date, but the times of the records are minutes: dates, ages and other numbers cannot be mixed; expected days, hours, minutes",
		],
		[
			"ages beside minutes",
			firstDay("50"),
			["--label-time-is", "age-years"],
			"--label-time-is is age-years, but the times of the records are minutes",
		],
		[
			"times after the last record of everybody",
			firstDay("1440"),
			["--label-time-is", "days"],
			"lie after the last record of everybody, on day 1.98, the first of them on day 1440: each would see every event; check their times, which were read in days, and name another unit with --label-time-is",
		],
	])("%s is refused", async (name, text, options, message) => {
		const file = await written(`${name.replaceAll(" ", "-")}.csv`, text);
		await refused(["--label", `icu=${file}`, ...options], message);
	});

	test.each([
		["prediction_date", "prediction_datetime", "index_date", "label_date", "anchor_date"],
		["landmark", "landmark_time", "index_time", "label_time", "prediction_time"],
	])("%s and other usual names are read as times", async (...names) => {
		const plain = await opened();
		for (const name of names) {
			const text = firstDay("1440").replace("time,", `${name},`);
			const file = await written(`${name}.csv`, text);
			const { dataset, notes } = await withLabels(plain, { task: "icu", file });
			expect(await seen(dataset)).toEqual(expected);
			const unseen = ids.length - expected.length;
			expect(notes).toEqual(
				unseen > 0 ? [`${file}: ${unseen} labels have no event up to their time: left out`] : [],
			);
		}
	});

	test("other names that may be of times are refused", async () => {
		const plain = await opened();
		for (const name of ["dt", "cutoff", "time_of_prediction", "time_weeks", "futime", "taken_at"]) {
			const text = firstDay("1440").replace("time,", `${name},`);
			const file = await written(`${name}.csv`, text);
			await expect(withLabels(plain, { task: "icu", file })).rejects.toThrow(
				`column ${name} may be the time of the labels, but is not called so; call it time`,
			);
		}
		const file = await writeParquet(
			at("typed.parquet"),
			"SELECT 'p1' AS subject_id, DATE '2020-01-01' AS asked, true AS boolean_value",
		);
		await expect(withLabels(plain, { task: "icu", file })).rejects.toThrow(
			"column asked may be the time of the labels",
		);
	});

	test.each(["nothing", "age", "birth_year", "birth_date"])(
		"labels with %s, but no time, see all events, and a note says so",
		async (name) => {
			const file = await written("timeless.csv", firstDay("50").replace("time,", `${name},`));
			const note = `${file} has no time: each label sees all events of its patient`;
			const { stderr, open } = await prepared("--label", `icu=${file}`);
			expect(stderr).toContain(note);
			const dataset = await open();
			const all = (await seen(dataset)).map(([id, , events]) => [id, events]);
			expect(all).toEqual([...ids].sort().map((id) => [id, stays.get(id)?.length]));
			expect(dataset.manifest.source.times).toEqual({ records: "minutes" });
			const plain = await opened();
			const later = await withLabels(plain, { task: "icu", file });
			expect(later.notes).toEqual([note]);
			await refused(
				["--label", `icu=${file}`, "--label-time-is", "days"],
				"has no column for the time, but --label-time-is is days; call the column time",
			);
			const { times: _, ...source } = plain.manifest.source;
			const earlier = { ...plain, manifest: { ...plain.manifest, source } };
			if (name === "age")
				await expect(withLabels(earlier, { task: "icu", file })).rejects.toThrow("column age may");
			else expect((await withLabels(earlier, { task: "icu", file })).notes).toEqual([note]);
		},
	);

	test("labels before the first record are counted, and half of them are a warning", async () => {
		const firstOf = (id: string) => Math.min(...(stays.get(id) as number[]));
		const labels = (early: number) =>
			table("patient,time,label", (id, at) => `${id},${firstOf(id) - (at < early ? 1 : 0)},1`);
		for (const early of [30, 29]) {
			const file = await written(`early${early}.csv`, labels(early));
			const note = `${file}: ${early} labels have no event up to their time: left out`;
			const warning = `${file}: 30 of 60 labels lie before the first record of their patient: check their times, which were read in minutes, and name another unit with `;
			const { stderr } = await prepared("--label", `icu=${file}`);
			expect(stderr).toContain(note);
			const plain = await opened();
			const { notes, warnings } = await withLabels(plain, { task: "icu", file });
			expect(notes).toEqual([note]);
			expect(warnings).toEqual(early < 30 ? [] : [`${warning}\`labelTimeIs\``]);
			expect(stderr.includes(`warning: ${warning}--label-time-is`)).toBe(early === 30);
		}
	});

	test("a label a month after all records is unusual; one beyond their span is refused", async () => {
		const records = ids.flatMap((id) => [`${id},-700,4019\n`, `${id},-31,4019\n`]);
		const file = await written("before.csv", `patient,day,icd9\n${records.join("")}`);
		const prepare = async (day: number) =>
			captured(
				words`prepare ${file} --from csv --time day --time-is days --codes as-is --min-count 1 --force --out ${at("before")} --label icu=${await written("zero.csv", firstDay(`${day}`))}`,
			);
		const usual = await prepare(0);
		expect(usual.code).toBe(0);
		expect(usual.stderr).toContain(
			"all 60 labels lie after the last record of everybody, and see every event: check their times, which were read in days, and name another unit with --label-time-is",
		);
		expect((await prepare(638)).code).toBe(0);
		const far = await prepare(639);
		expect([far.code, far.stderr]).toEqual([
			2,
			expect.stringContaining("on day -31, the first of"),
		]);
	});

	test("dates of labels may be those at which the data end, but not years later", async () => {
		const records = ids.flatMap((id) => [`${id},2019-01-01,4019\n`, `${id},2019-12-31,4019\n`]);
		const file = await written("dates.csv", `patient,date,icd9\n${records.join("")}`);
		const prepare = async (date: string) =>
			captured(
				words`prepare ${file} --from csv --codes as-is --min-count 1 --force --out ${at("dates")} --label icu=${await written("late.csv", firstDay(date))}`,
			);
		const usual = await prepare("2020-06-30");
		expect([usual.code, usual.stderr]).toEqual([0, expect.not.stringContaining("warning")]);
		expect((await prepare("2021-06-30")).stderr).toContain(
			"warning: ".concat(
				at("late.csv"),
				": all 60 labels lie after the last record of everybody, by more than a year, and see every event: check their times\n",
			),
		);
	});

	test("timestamps are refused, and a unit without labels", async () => {
		const file = await writeParquet(
			at("meds.parquet"),
			"SELECT 'p1' AS subject_id, TIMESTAMP '2020-01-01' AS prediction_time, true AS boolean_value",
		);
		await refused(
			["--label", `icu=${file}`],
			"column prediction_time is of type TIMESTAMP; expected numbers, because the times are said to be minutes",
		);
		await refused(["--label-time-is", "days"], "--label-time-is needs --label");
	});

	test("that nearly all see every event is a warning; labels at the last record are not", async () => {
		const lastOf = (id: string) => Math.max(...(stays.get(id) as number[]));
		const late = table("patient,time,label", (id, at) =>
			at === 1 ? `${id},100,1` : `${id},${lastOf(id) + 1441},${at % 2}`,
		);
		const file = await written("late.csv", late);
		expect((await prepared("--label", `icu=${file}`)).stderr).toMatch(
			/warning: .*late\.csv: 59 of (59|60) labels lie more than a day after the last record of their patient, and see every event: check their times, which were read in minutes, and name another unit with --label-time-is/,
		);
		const plain = await opened();
		expect((await withLabels(plain, { task: "icu", file })).warnings).toHaveLength(1);
		const atLast = table("patient,time,label", (id, at) => `${id},${lastOf(id)},${at % 2}`);
		const healthy = await written("last.csv", atLast);
		expect((await withLabels(plain, { task: "icu", file: healthy })).warnings).toEqual([]);
	});

	test("a dataset of an earlier version does not tell its unit", async () => {
		const dataset = await opened();
		const { times: _, ...source } = dataset.manifest.source;
		const earlier = { ...dataset, manifest: { ...dataset.manifest, source } };
		const labels = { task: "icu", file: await written("earlier.csv", firstDay("1440")) };
		await expect(withLabels(earlier, labels)).rejects.toThrow(
			"was prepared by an earlier version and does not say in which unit its times were read; name that of the labels with `labelTimeIs`",
		);
		const named = await withLabels(earlier, { ...labels, labelTimeIs: "minutes" });
		expect(await seen(named.dataset)).toEqual(expected);
	});
});

describe("births, deaths and observation", () => {
	const people = async (column: string, value: (at: number) => string, ...options: string[]) => {
		const text = table(`patient,sex,${column}`, (id, at) => `${id},F,${value(at)}`);
		return prepared("--people", await written("people.csv", text), ...options);
	};
	const births = async ({ open }: Awaited<ReturnType<typeof people>>) => {
		const dataset = await open();
		return ids.map(async (id) => {
			for (const split of ["train", "valid", "test"] as const)
				for await (const { id: other, birthEvents, times } of dataset.histories(split))
					if (other === id) return birthEvents ? times[0] : null;
			return undefined;
		});
	};
	const allOf = async (made: Awaited<ReturnType<typeof people>>) => Promise.all(await births(made));

	test("of days since the admission", async () => {
		const made = await people(
			"birth",
			(at) => `${-365.25 * (40 + at)}`,
			"--people-time-is",
			"days",
		);
		expect(await allOf(made)).toEqual(ids.map((_, at) => -365.25 * (40 + at)));
		expect((await made.open()).manifest.source.times).toEqual({
			records: "minutes",
			people: "days",
		});
		expect(made.stderr).not.toContain("warning");
	});

	test("of an age, and of one that is hidden", async () => {
		const age = (at: number) => (at === 7 ? "> 89" : at === 8 ? "" : `${20 + at}`);
		const made = await people("age", age, "--age", "age");
		expect(await allOf(made)).toEqual(
			ids.map((_, at) => (at === 8 ? null : -365.25 * (at === 7 ? 90 : 20 + at))),
		);
		expect((await people("age", age)).stderr).toContain(
			"people.csv: age was not read, and no birth is known; if it is the age in years at time 0, pass --age age",
		);
		const old = await people("age", () => "130", "--age", "age");
		expect(old.stderr).toContain('age is "130"; expected an age from 0 to 120 years (age-years)');
	});

	test("of minutes are implausible if they are days, and the reverse is refused", async () => {
		const days = (at: number) => `${Math.round(-365.25 * (40 + at))}`;
		expect((await people("birth", days)).stderr).toContain(
			"warning: 60 of 60 patients whose birth is known are younger than 5 years at their first record (median 0.0492 years); births were read in minutes: unless they are, name their unit with --people-time-is, or the column of the age in years at time 0 with --age",
		);
		const minutes = (at: number) => `${-525960 * (40 + at)}`;
		const wrong = await people("birth", minutes, "--people-time-is", "days");
		expect(wrong.code).toBe(2);
		expect(wrong.stderr).toContain(
			"60 of 60 patients whose birth is known are older than 120 years at their first record (median 100000 years); births were read in days",
		);
	});

	test("of hours are implausible if they are days", async () => {
		const days = (at: number) => `${Math.round(-365.25 * (40 + at))}`;
		expect((await people("birth", days, "--people-time-is", "hours")).stderr).toContain(
			"warning: 60 of 60 patients whose birth is known are younger than 5 years at their first record (median 2.9 years); births were read in hours: unless they are, name their unit with --people-time-is",
		);
	});

	test("of births after the first record, most are a warning", async () => {
		const made = await people("birth", (at) => (at < 30 ? "4000" : "-20000000"));
		expect(made.stderr).toContain(
			"warning: 30 of 60 births lie after the first record of their patient, and are not used; births were read in minutes: name their unit with --people-time-is",
		);
		const fewer = await people("birth", (at) => (at < 29 ? "4000" : "-20000000"));
		expect(fewer.stderr).not.toContain("warning");
	});

	test("of deaths before the last record, half are a warning", async () => {
		const lastOf = (at: number) => Math.max(...([...stays.values()][at] as number[]));
		const deaths = (early: number) =>
			people("death", (at) => `${lastOf(at) - (at < early ? 1440 : 0)}`);
		expect((await deaths(30)).stderr).toContain(
			"warning: 30 of 60 deaths lie before the day of the last record of their patient; deaths were read in minutes: check them, and name another unit with --people-time-is",
		);
		expect((await deaths(29)).stderr).not.toContain("warning");
	});

	test.each([
		["age_months", "states months, and --age is in years or days; convert the ages"],
		["age_weeks", "states weeks, and --age is in years or days"],
		["age_days", undefined],
		["age_years", undefined],
	])("of %s", async (name, message) => {
		const made = await people(name, (at) => `${20 + at}`, "--age", name);
		if (message === undefined) {
			const factor = name === "age_days" ? 1 : 365.25;
			expect(await allOf(made)).toEqual(ids.map((_, at) => -factor * (20 + at)));
		} else expect([made.code, made.stderr]).toEqual([2, expect.stringContaining(message)]);
	});

	test("an age needs an origin, and one birth", async () => {
		const dated = await written("dated.csv", "patient,date,icd9\na,2020-01-01,4019\n");
		const person = await written("person.csv", "patient,age,birth\na,50,1970-01-01\n");
		const prepare = async (...options: string[]) =>
			(
				await captured(
					words`prepare ${dated} --from csv --people ${person} --out ${at("x")} ${options}`,
				)
			).stderr;
		expect(await prepare("--age", "age")).toContain(
			"--age is the age at time 0, and the records have dates; name a column with --birth or --birth-year",
		);
		expect(await prepare("--age", "age", "--birth", "birth")).toContain(
			"--birth and --age each name a column of the birth; choose one",
		);
		expect(await prepare("--people-time-is", "days")).toContain(
			"--people-time-is is days, but the times of the records are date: dates, ages and other numbers cannot be mixed; expected date",
		);
	});

	test("observation is in the unit of the records, or in another that an option names", async () => {
		const periods = async (end: string, ...options: string[]) => {
			const text = table("patient,start,end", (id) => `${id},0,${end}`);
			return prepared("--observation", await written("periods.csv", text), ...options);
		};
		const ends = async ({ open }: Awaited<ReturnType<typeof periods>>) => {
			const { observed } = await (await open()).read(0);
			return observed;
		};
		expect(await ends(await periods("4320"))).toEqual([{ start: 0, end: 3 }]);
		const inDays = await periods("3", "--observation-time-is", "days");
		expect(await ends(inDays)).toEqual([{ start: 0, end: 3 }]);
		expect((await inDays.open()).manifest.source.times).toEqual({
			records: "minutes",
			observation: "days",
		});
		const stated = table("patient,start_day,end_day", (id) => `${id},0,3`);
		await refused(
			["--observation", await written("stated-periods.csv", stated)],
			"the name of column start_day states days, but its times are read in minutes, as those of the records; name their unit with --observation-time-is",
		);
		const few = table("patient,start,end", (id, at) => `${id},${at < 25 ? 0 : 3000},4320`);
		expect((await prepared("--observation", await written("few.csv", few))).stderr).toMatch(
			/warning: (\d+) of \d+ records lie outside the observation of their patient; check the periods, which were read in minutes/,
		);
		const before = table("patient,start,end", (id) => `${id},-9000,-1440`);
		await refused(
			["--observation", await written("before.csv", before)],
			"records lie outside the observation of their patient: periods reach from day -7 to day -1, records from day 0",
			"which were read in minutes, and name another unit with --observation-time-is",
		);
	});
});

describe("names of time columns", () => {
	const read = async (column: string, ...options: string[]) => {
		const rows = [...stays].flatMap(([id, minutes]) =>
			minutes.map((minute) => `${id},${minute},4019\n`),
		);
		const file = await written("named.csv", `patient,${column},icd9\n${rows.join("")}`);
		const { code, stderr } = await captured(
			words`prepare ${file} --from csv --codes as-is --min-count 1 --min-records 1 --out ${at("named")} ${options}`,
		);
		return { code, stderr };
	};

	test.each([
		["time_minutes", "days", "states minutes, but --time-is is days; pass --time-is minutes"],
		["age_days", "age-years", "states age-days, but --time-is is age-years"],
		[
			"time_seconds",
			"minutes",
			"states seconds, a unit that is not supported: convert the times to days, but --time-is is minutes; rename the column if its times are minutes",
		],
		["time_weeks", "days", "states weeks, a unit that is not supported"],
		["time_months", "days", "states months, a unit that is not supported"],
	])("%s is not of %s", async (column, unit, message) => {
		const { code, stderr } = await read(column, "--time", column, "--time-is", unit);
		expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
	});

	test.each([
		"time_minutes",
		"start_minutes",
		"time_hours",
		"start_hours",
		"time_days",
		"start_days",
	])("%s is found, and states its unit", async (column) => {
		const { code } = await read(column);
		expect(code).toBe(0);
		const { manifest } = await openDataset(at("named"));
		expect(manifest.source.times).toEqual({ records: column.split("_")[1] });
	});

	test("labels and people may not be in units that are not supported", async () => {
		const text = firstDay("1440").replace("time,", "landmark_seconds,");
		const file = await written("seconds.csv", text);
		await refused(["--label", `icu=${file}`], "column landmark_seconds may be the time");
		const people = await written(
			"weeks.csv",
			table("patient,death_weeks", (id) => `${id},9`),
		);
		await refused(
			["--people", people, "--death", "death_weeks", "--people-time-is", "days"],
			"the name of column death_weeks states weeks, a unit that is not supported: convert the times to days, but its times are read in days; rename the column if they are days",
		);
	});
});
