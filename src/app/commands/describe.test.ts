import { chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { prepared } from "../../data/cohort/testing/prepared.js";
import { temporaryFolder } from "../../data/records/testing/temporary-folder.js";
import { clinicSource } from "../../evaluate/charts/testing/clinic-source.js";
import { textBarsFor } from "./describe.js";
import { done, json, refusal } from "./testing/captured.js";
import { clinicRun } from "./testing/clinic-run.js";

const clinic = async (patients = 60) => {
	const { dataset } = await prepared(clinicSource(patients));
	return { folder: dataset.folder, manifest: dataset.manifest };
};

describe("describe", () => {
	test("--json holds everything", async () => {
		const { folder, manifest } = await clinic();
		const told = await json`describe ${folder} --top 1`;
		expect(told.manifest).toEqual(JSON.parse(JSON.stringify(manifest)));
		expect(told.codes).toHaveLength(manifest.counts.tokens - 5);
		const total = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);
		const events = (rows: readonly { events: number }[]) => total(rows.map((row) => row.events));
		expect(events(told.codes)).toBe(manifest.counts.events);
		expect(events(told.categories)).toBe(manifest.counts.events);
		const { records, gap, age } = told.histograms;
		expect(total(records.counts) + records.above).toBe(60);
		expect(total(gap.counts) + gap.zero).toBe(manifest.counts.events - 60);
		expect(age.unit).toBe("years");
		for (const label of told.labels) {
			const splits: { labels: number; positive: number }[] = Object.values(label.splits);
			expect(total(splits.map(({ labels }) => labels))).toBe(label.labels);
			expect(total(splits.map(({ positive }) => positive))).toBe(label.positive);
		}
		expect(told.labels.map(({ task }: { task: string }) => task)).toEqual(["insulin", "chf-paper"]);
	});

	test("warns of a dataset of a version that cannot be checked", async () => {
		const { folder, manifest } = await clinic();
		const { sha256: _, ...rest } = JSON.parse(JSON.stringify(manifest));
		delete rest.source.times;
		await writeFile(join(folder, "manifest.json"), JSON.stringify({ ...rest, schemaVersion: 5 }));
		expect((await done`describe ${folder}`).stderr).toBe(
			`warning: ${folder} was prepared by an earlier version of trajgpt: whether its rules were changed since cannot be checked; prepare it again to have them checked\n`,
		);
	});

	test("draws a figure", async () => {
		const { folder } = await clinic();
		const out = await temporaryFolder();
		const svg = join(out, "deep", "clinic.svg");
		expect((await done`describe ${folder} --figure ${svg}`).stderr).toBe(`drawn: ${svg}\n`);
		expect(await readFile(svg, "utf8")).toContain("Most frequent codes");

		expect(await refusal`describe ${folder} --figure ${svg}`).toContain(
			"already exists; choose another name, or pass --force",
		);
		await done`describe ${folder} --figure ${svg} --force`;
		expect(await readdir(join(out, "deep"))).toEqual(["clinic.svg"]);

		const png = join(out, "clinic.PNG");
		await done`describe ${folder} --figure ${png}`;
		const bytes = await readFile(png);
		expect(bytes.subarray(1, 4).toString()).toBe("PNG");
		expect(bytes.readUInt32BE(16)).toBe(1920);
	});

	test("rejects a figure that it cannot write before it reads the dataset", async () => {
		const out = await temporaryFolder();
		await writeFile(join(out, "file"), "");
		await mkdir(join(out, "folder.svg"));
		const refused = async (name: string) =>
			(await refusal`describe nowhere --figure ${join(out, name)}`).replaceAll(out, "OUT");
		expect(await refused("a.pdf")).toBe(
			"error: OUT/a.pdf: cannot tell how to draw a .pdf file; expected a name that ends in .svg or .png\n",
		);
		expect(await refused("svg")).toContain("a file without an extension");
		expect(await refused("folder.svg")).toContain("is a folder; expected a file name");
		expect(await refused("file/a.svg")).toContain("a part of the path is a file, not a folder");
		expect(await refused("a.svg")).toContain("nowhere does not exist; expected a dataset folder");
		expect(await readdir(out)).toEqual(["file", "folder.svg"]);
	});

	test.skipIf(process.getuid?.() === 0)("rejects a read-only folder", async () => {
		const out = await temporaryFolder();
		await chmod(out, 0o555);
		const file = join(out, "deep", "a.svg");
		expect(await refusal`describe nowhere --figure ${file}`).toContain(
			`cannot write ${file}: permission denied`,
		);
	});

	test("refuses a run, and names the commands for its dataset and results", async () => {
		const { run, dataset: data } = await clinicRun();
		const stderr = await refusal`describe ${run}`;
		expect(stderr).toContain(`run \`trajgpt describe ${data}\` for the dataset`);
		expect(stderr).toContain(`\`trajgpt report ${run}\``);
	});

	test("speaks of hours where stays are short, of 90+ where ages are capped, and of flags", async () => {
		const folder = await temporaryFolder();
		const records = Array.from({ length: 40 }, (_, p) =>
			[30, 60, 250].map((minute) => `p${p},${minute + p},401.9\n`).join(""),
		);
		await writeFile(join(folder, "stays.csv"), `patient,minute,icd9\n${records.join("")}`);
		const out = join(folder, "data");
		const prepare = ["prepare", join(folder, "stays.csv"), "--from", "csv", "--out", out];
		await done`${prepare} --time minute --time-is minutes`;
		const { stdout } = await done`describe ${out}`;
		expect(stdout).toContain("\nobserved: ");
		expect(stdout).toMatch(/train: span in hours +3\.7 /);
		expect(stdout.replace(/^at most: .*/m, "")).not.toMatch(/years|gap in days/);

		const old = Array.from({ length: 40 }, (_, p) =>
			[1, 2].map((year) => `p${p},200${year}-01-0${year},401.9\n`).join(""),
		);
		const people = Array.from(
			{ length: 40 },
			(_, p) => `p${p},${p % 2},19${p < 20 ? "05" : "50"}-01-01\n`,
		);
		await writeFile(join(folder, "old.csv"), `patient,date,icd9\n${old.join("")}`);
		await writeFile(join(folder, "people.csv"), `patient,sex,birth\n${people.join("")}`);
		const aged = join(folder, "aged");
		const given = ["--from", "csv", "--people", join(folder, "people.csv"), "--out", aged];
		await done`prepare ${join(folder, "old.csv")} ${given}`;
		const figure = join(folder, "aged.svg");
		const described = await done`describe ${aged} --figure ${figure}`;
		expect(described.stdout).toContain("train: age in years, above 90 as 90");
		expect(described.stdout).toMatch(/age at events .* 90\+ years/);
		expect(described.stdout).toContain("say what each means with --sex-values: VALUE=female");
		expect(described.stdout).not.toContain("sexValues");
		expect(await readFile(figure, "utf8")).toContain("90+");
	});

	test("says that maxima are rounded up, and how", async () => {
		const folder = await temporaryFolder();
		const records = Array.from({ length: 40 }, (_, p) =>
			[0, 100, p === 7 ? 366 : 200].map((day) => `p${p},${day},401.9\n`).join(""),
		);
		await writeFile(join(folder, "year.csv"), `patient,days,icd9\n${records.join("")}`);
		const out = join(folder, "data");
		const prepare = ["prepare", join(folder, "year.csv"), "--from", "csv", "--out", out];
		await done(prepare);
		const { stdout } = await done`describe ${out}`;
		expect(stdout).toMatch(/^ +min +25 % +median +75 % +at most +mean$/m);
		expect(stdout).toMatch(/^valid: span in days .* 731 /m);
		expect(stdout).toContain(
			"at most: the maximum, rounded up (to whole years, below a year to 30 days",
		);
		const { all } = await json`describe ${out}`;
		expect(all.spanDays).toMatchObject({ min: 200, max: 730.5 });
		expect((await done`describe --help`).stdout).toContain('every "max" of --json');
	});
});

describe("text bars", () => {
	const io = (env: Record<string, string>) =>
		textBarsFor({ env, stdout: process, stderr: process } as never);

	test("have a resolution of an eighth of a character", () => {
		const { bar, spark } = io({ LANG: "en_US.UTF-8" });
		expect([0, 0.001, 0.5, 0.55, 1].map((share) => bar(share, 4))).toEqual([
			"",
			"▏",
			"██",
			"██▎",
			"████",
		]);
		expect(spark([0, 1, 50, 100])).toBe(" ▁▄█");
	});

	test("are ASCII where the terminal shows nothing else", () => {
		const { bar, spark } = io({ LC_ALL: "C" });
		expect(bar(0.5, 4)).toBe("##");
		expect(spark([0, 1, 50, 100])).toBe(" .=#");
	});
});
