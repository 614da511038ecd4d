import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { random } from "../../base/random.js";
import { type Dataset, openDataset, withLabels } from "../../data/cohort/index.js";
import type { TimeIs } from "../../data/records/rows.js";
import { temporaryFolder } from "../../data/records/testing/temporary-folder.js";
import { writeParquet } from "../../data/records/testing/write-parquet.js";
import { captured, rowsIn, words } from "./testing/captured.js";

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
/** The stays without labels. */
let plain: Dataset;
const at = (name: string) => join(folder, name);
const written = async (name: string, text: string) => {
	await writeFile(at(name), text);
	return at(name);
};

beforeAll(async () => {
	folder = await mkdtemp(join(tmpdir(), "trajgpt-time-units-"));
	const rows = [...stays].flatMap(([id, minutes]) =>
		minutes.map((minute, n) => `${id},${minute},${401 + (n % 4)}.9\n`),
	);
	await written("stays.csv", `patient,minute,icd9\n${rows.join("")}`);
	await prepareTo(at("plain"));
	plain = await openDataset(at("plain"));
});
afterAll(() => rm(folder, { recursive: true }));

const prepareTo = (out: string, ...options: string[]) =>
	captured(
		words`prepare ${at("stays.csv")} --from csv --time minute --time-is minutes --codes as-is --min-count 1 --min-records 1 --out ${out} ${options}`,
	);

/** Prepares the stays, and gives what was printed and the dataset. */
async function prepared(...options: string[]) {
	const out = join(await temporaryFolder(), "data");
	const { code, stderr } = await prepareTo(out, ...options);
	return { code, stderr, open: () => openDataset(out) };
}

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

/** The stays with labels: prepared with them, and given them later. */
async function labelled(file: string, options: readonly string[] = [], labelTimeIs?: TimeIs) {
	const made = await prepared("--label", `icu=${file}`, ...options);
	return { ...made, later: await withLabels(plain, { task: "icu", file, labelTimeIs }) };
}
const isUnseen = (count: number) => `${count} labels have no event up to their time: left out`;

describe("labels are in the unit of the records", () => {
	test("a label at minute 1,440 sees the events up to and including that minute", async () => {
		const file = await written("labels.csv", firstDay("1440"));
		const total = [...stays.values()].reduce((sum, { length }) => sum + length, 0);
		const visible = expected.reduce((sum, [, , events]) => sum + events, 0);
		expect(visible).toBeGreaterThan(0.3 * total);
		expect(visible).toBeLessThan(0.7 * total);
		const { stderr, open, later } = await labelled(file);
		const dataset = await open();
		expect(await seen(dataset)).toEqual(expected);
		expect(dataset.manifest.source.times).toEqual({ records: "minutes", labels: "minutes" });
		expect(stderr).not.toContain("warning");
		expect(await seen(later.dataset)).toEqual(expected);
		expect(later.warnings).toEqual([]);
		const stated = await written("stated.csv", firstDay("1440").replace("time,", "time_minutes,"));
		const same = await withLabels(plain, { task: "icu", file: stated });
		expect(await seen(same.dataset)).toEqual(expected);
	});

	test.each([
		["days", "1"],
		["hours", "24"],
	] as const)("or in %s, where an option says so", async (unit, time) => {
		const file = await written(`${unit}.csv`, firstDay(time));
		const { open, later } = await labelled(file, ["--label-time-is", unit], unit);
		const dataset = await open();
		expect(await seen(dataset)).toEqual(expected);
		expect(dataset.manifest.source.times).toEqual({ records: "minutes", labels: unit });
		expect(await seen(later.dataset)).toEqual(expected);
	});

	test.each(
		rowsIn(`
			a date | time | 2019-05-31 | | line 2 has no time that can be read; expected a number (minutes)
			a column that states another unit | time_days | 1 | | the name of column time_days states days, but its times are read in minutes, as those of the records; name their unit with --label-time-is, or rename
			a column that states a unit that is not supported | landmark_seconds | 1440 | | column landmark_seconds may be the time
			a column that may be the time | minute | 1440 | | column minute may be the time of the labels, but is not called so; call it time
			dates beside minutes | time | 1440 | date | --label-time-is is date, but the times of the records are minutes: dates, ages and other numbers cannot be mixed; expected days, hours, minutes
			ages beside minutes | time | 50 | age-years | --label-time-is is age-years, but the times of the records are minutes
			times after the last record of everybody | time | 1440 | days | lie after the last record of everybody, on day 1.98, the first of them on day 1440: each would see every event; check their times, which were read in days, and name another unit with --label-time-is
			a unit without times | nothing | 50 | days | has no column for the time, but --label-time-is is days; call the column time`),
	)("%s is refused: %s %s", async (name = "", column = "", time = "", unit = "", message = "") => {
		const text = firstDay(time).replace("time,", `${column},`);
		const file = await written(`${name.replaceAll(" ", "-")}.csv`, text);
		const more = unit === "" ? [] : ["--label-time-is", unit];
		await refused(["--label", `icu=${file}`, ...more], message);
	});

	test("usual names are read as times, and other names that may be of times are refused", async () => {
		const named = async (name: string) => {
			const text = firstDay("1440").replace("time,", `${name},`);
			return { task: "icu", file: await written(`${name}.csv`, text) };
		};
		for (const name of [
			...["prediction_date", "prediction_datetime", "index_date", "label_date", "anchor_date"],
			...["landmark", "landmark_time", "index_time", "label_time", "prediction_time"],
		]) {
			const labels = await named(name);
			const { dataset, notes } = await withLabels(plain, labels);
			expect(await seen(dataset)).toEqual(expected);
			const unseen = ids.length - expected.length;
			expect(notes).toEqual(unseen > 0 ? [`${labels.file}: ${isUnseen(unseen)}`] : []);
		}
		for (const name of ["dt", "cutoff", "time_of_prediction", "time_weeks", "futime", "taken_at"])
			await expect(withLabels(plain, await named(name))).rejects.toThrow(
				`column ${name} may be the time of the labels, but is not called so; call it time`,
			);
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
			const { stderr, open, later } = await labelled(file);
			expect(stderr).toContain(note);
			const dataset = await open();
			const all = (await seen(dataset)).map(([id, , events]) => [id, events]);
			expect(all).toEqual([...ids].sort().map((id) => [id, stays.get(id)?.length]));
			expect(dataset.manifest.source.times).toEqual({ records: "minutes" });
			expect(later.notes).toEqual([note]);
			const earlier = withLabels(withoutUnit(plain), { task: "icu", file });
			if (name === "age") await expect(earlier).rejects.toThrow("column age may");
			else expect((await earlier).notes).toEqual([note]);
		},
	);

	test.each([30, 29])("%i of 60 labels before the first record are counted", async (early) => {
		const firstOf = (id: string) => Math.min(...(stays.get(id) as number[]));
		const text = table(
			"patient,time,label",
			(id, at) => `${id},${firstOf(id) - (at < early ? 1 : 0)},1`,
		);
		const file = await written(`early${early}.csv`, text);
		const warning = `${file}: 30 of 60 labels lie before the first record of their patient: check their times, which were read in minutes, and name another unit with `;
		const { stderr, later } = await labelled(file);
		expect(stderr).toContain(`${file}: ${isUnseen(early)}`);
		expect(later.notes).toEqual([`${file}: ${isUnseen(early)}`]);
		// Half of them are a warning.
		expect(later.warnings).toEqual(early < 30 ? [] : [`${warning}\`labelTimeIs\``]);
		expect(stderr.includes(`warning: ${warning}--label-time-is`)).toBe(early === 30);
	});

	/** Labels on one day, for records that end on another. */
	async function endingOn(column: string, days: readonly string[], label: string) {
		const rows = ids.flatMap((id) => days.map((day) => `${id},${day},4019\n`));
		const file = await written("ending.csv", `patient,${column},icd9\n${rows.join("")}`);
		const labels = await written("late.csv", firstDay(label));
		const units = column === "day" ? ["--time", "day", "--time-is", "days"] : [];
		return captured(
			words`prepare ${file} --from csv ${units} --codes as-is --min-count 1 --force --out ${at("ending")} --label icu=${labels}`,
		);
	}

	test("a label a month after all records is unusual; one beyond their span is refused", async () => {
		const days = ["-700", "-31"];
		const usual = await endingOn("day", days, "0");
		expect(usual.code).toBe(0);
		expect(usual.stderr).toContain(
			"all 60 labels lie after the last record of everybody, and see every event: check their times, which were read in days, and name another unit with --label-time-is",
		);
		expect((await endingOn("day", days, "638")).code).toBe(0);
		const far = await endingOn("day", days, "639");
		expect(far).toMatchObject({
			code: 2,
			stderr: expect.stringContaining("on day -31, the first of"),
		});
	});

	test("dates of labels may be those at which the data end, but not years later", async () => {
		const days = ["2019-01-01", "2019-12-31"];
		const usual = await endingOn("date", days, "2020-06-30");
		expect([usual.code, usual.stderr]).toEqual([0, expect.not.stringContaining("warning")]);
		expect((await endingOn("date", days, "2021-06-30")).stderr).toContain(
			`warning: ${at("late.csv")}: all 60 labels lie after the last record of everybody, by more than a year, and see every event: check their times\n`,
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
		const { stderr, later } = await labelled(await written("late.csv", late));
		expect(stderr).toMatch(
			/warning: .*late\.csv: 59 of (59|60) labels lie more than a day after the last record of their patient, and see every event: check their times, which were read in minutes, and name another unit with --label-time-is/,
		);
		expect(later.warnings).toHaveLength(1);
		const atLast = table("patient,time,label", (id, at) => `${id},${lastOf(id)},${at % 2}`);
		const healthy = await written("last.csv", atLast);
		expect((await withLabels(plain, { task: "icu", file: healthy })).warnings).toEqual([]);
	});

	test("a dataset of an earlier version does not tell its unit", async () => {
		const earlier = withoutUnit(plain);
		const labels = { task: "icu", file: await written("earlier.csv", firstDay("1440")) };
		await expect(withLabels(earlier, labels)).rejects.toThrow(
			"was prepared by an earlier version and does not say in which unit its times were read; name that of the labels with `labelTimeIs`",
		);
		const named = await withLabels(earlier, { ...labels, labelTimeIs: "minutes" });
		expect(await seen(named.dataset)).toEqual(expected);
	});
});

/** As an earlier version prepared it. */
function withoutUnit(dataset: Dataset): Dataset {
	const { times: _, ...source } = dataset.manifest.source;
	return { ...dataset, manifest: { ...dataset.manifest, source } };
}

describe("births, deaths and observation", () => {
	const people = async (column: string, value: (at: number) => string, ...options: string[]) => {
		const text = table(`patient,sex,${column}`, (id, at) => `${id},F,${value(at)}`);
		return prepared("--people", await written("people.csv", text), ...options);
	};
	/** The birth of each patient, null where it is unknown. */
	const births = async ({ open }: Awaited<ReturnType<typeof people>>) => {
		const dataset = await open();
		const known = new Map<string, number | null | undefined>();
		for (const split of ["train", "valid", "test"] as const)
			for await (const { id, birthEvents, times } of dataset.histories(split))
				known.set(id, birthEvents ? times[0] : null);
		return ids.map((id) => known.get(id));
	};

	test("of days since the admission", async () => {
		const birth = (at: number) => -365.25 * (40 + at);
		const made = await people("birth", (at) => `${birth(at)}`, "--people-time-is", "days");
		expect(await births(made)).toEqual(ids.map((_, at) => birth(at)));
		const times = { records: "minutes", people: "days" };
		expect((await made.open()).manifest.source.times).toEqual(times);
		expect(made.stderr).not.toContain("warning");
	});

	/** Births of adults in days, in minutes, and half of them after the first record. */
	const adults = {
		days: (at: number) => `${Math.round(-365.25 * (40 + at))}`,
		minutes: (at: number) => `${-525960 * (40 + at)}`,
		late: (at: number) => (at < 30 ? "4000" : "-20000000"),
	};
	test.each(
		rowsIn(`
			days | minutes | warning: 60 of 60 patients whose birth is known are younger than 5 years at their first record (median 0.0492 years); births were read in minutes: unless they are, name their unit with --people-time-is, or the column of the age in years at time 0 with --age
			days | hours | warning: 60 of 60 patients whose birth is known are younger than 5 years at their first record (median 2.9 years); births were read in hours: unless they are, name their unit with --people-time-is
			minutes | days | 60 of 60 patients whose birth is known are older than 120 years at their first record (median 100000 years); births were read in days
			late | minutes | warning: 30 of 60 births lie after the first record of their patient, and are not used; births were read in minutes: name their unit with --people-time-is`),
	)("of %s are implausible as %s", async (births, unit = "", message = "") => {
		const value = adults[births as keyof typeof adults];
		const { code, stderr } = await people("birth", value, "--people-time-is", unit);
		expect([code, stderr]).toEqual([
			message.startsWith("warning") ? 0 : 2,
			expect.stringContaining(message),
		]);
	});

	test("of births after the first record, or deaths before the last, fewer are none", async () => {
		const fewer = await people("birth", (at) => (at < 29 ? "4000" : "-20000000"));
		expect(fewer.stderr).not.toContain("warning");
		const lastOf = (at: number) => Math.max(...([...stays.values()][at] as number[]));
		const deaths = (early: number) =>
			people("death", (at) => `${lastOf(at) - (at < early ? 1440 : 0)}`);
		expect((await deaths(30)).stderr).toContain(
			"warning: 30 of 60 deaths lie before the day of the last record of their patient; deaths were read in minutes: check them, and name another unit with --people-time-is",
		);
		expect((await deaths(29)).stderr).not.toContain("warning");
	});

	test("observation is in the unit of the records, or in another that an option names", async () => {
		const periods = (name: string, row: (id: string, at: number) => string) =>
			written(`${name}.csv`, table("patient,start,end", row));
		const observed = async (file: string, ...options: string[]) => {
			const dataset = await (await prepared("--observation", file, ...options)).open();
			return { dataset, observed: (await dataset.read(0)).observed };
		};
		const minutes = await observed(await periods("minutes", (id) => `${id},0,4320`));
		expect(minutes.observed).toEqual([{ start: 0, end: 3 }]);
		const inDays = await periods("days", (id) => `${id},0,3`);
		const { dataset, ...same } = await observed(inDays, "--observation-time-is", "days");
		expect(same.observed).toEqual([{ start: 0, end: 3 }]);
		const times = { records: "minutes", observation: "days" };
		expect(dataset.manifest.source.times).toEqual(times);
		const few = await periods("few", (id, at) => `${id},${at < 25 ? 0 : 3000},4320`);
		expect((await prepared("--observation", few)).stderr).toMatch(
			/warning: (\d+) of \d+ records lie outside the observation of their patient; check the periods, which were read in minutes/,
		);
		await refused(
			["--observation", await periods("before", (id) => `${id},-9000,-1440`)],
			"records lie outside the observation of their patient: periods reach from day -7 to day -1, records from day 0",
			"which were read in minutes, and name another unit with --observation-time-is",
		);
	});
});
