import { mkdtempSync, rmSync } from "node:fs";
import { cp, readdir, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../../data/records/testing/temporary-folder.js";
import { launchers, mpirun } from "../../engine/mpi/testing/mpirun.js";
import { captured, done } from "./testing/captured.js";

const main = fileURLToPath(new URL("../../../dist/bin/trajgpt.js", import.meta.url));
const otherFiles = new URL("testing/other-files-of-rank-1.mjs", import.meta.url).href;
const fullDisk = new URL("testing/full-disk-of-rank-1.mjs", import.meta.url).href;

const place = mkdtempSync(join(tmpdir(), "trajgpt-prepare-mpi-"));
const population = join(place, "population");
afterAll(() => rmSync(place, { recursive: true }));
beforeAll(async () => {
	const people = ["--patients", "60", "--seed", "3"];
	await done`simulate ${people} --out ${population}`;
});

const prepare = (out: string, more: readonly string[] = []) => [
	...["prepare", population, "--from", "csv", "--out", out, "--threads", "1", "--memory", "256MB"],
	...["--min-count", "20", ...more],
];

async function expectSameFiles(one: string, other: string): Promise<void> {
	const names = (await readdir(one)).sort();
	expect((await readdir(other)).sort()).toEqual(names);
	expect(names).toContain("manifest.json");
	for (const name of names)
		expect(await readFile(join(other, name), "latin1")).toBe(
			await readFile(join(one, name), "latin1"),
		);
}

test.skipIf(launchers.length > 0)("needs Open MPI or MPICH", ({ skip }) => skip());

describe.each(launchers.map((launcher) => [launcher.name, launcher] as const))(
	"prepare with %s",
	(name, launcher) => {
		test.each([
			{ processes: 2, options: [] },
			{ processes: 4, options: [] },
			{
				processes: 3,
				options: ["--dedup", "month", "--max-records", "40", "--drugs", "tokens", "--death-token"],
			},
		])("writes the files of one process with $processes", async ({ processes, options }) => {
			const [one, several] = ["one", "several"].map((kind) =>
				join(place, `${name}-${kind}-${processes}`),
			) as [string, string];
			const alone = await captured(prepare(one, options));
			expect(alone.code).toBe(0);
			const job = await mpirun(launcher, processes, [main, ...prepare(several, options)]);
			expect(job.code).toBe(0);
			expect(job.stdout.replaceAll(several, one)).toBe(alone.stdout);
			await expectSameFiles(one, several);
		});

		test.each([
			["rows", (lines: string[]) => lines.filter((line) => !line.startsWith("p000005,"))],
			["their order", ([header = "", ...lines]: string[]) => [header, ...lines.reverse()]],
		])("refuses files that differ between processes in %s", async (_, changed) => {
			const folder = await temporaryFolder();
			const other = join(folder, "other");
			await cp(population, other, { recursive: true });
			const claims = join(other, "claims.csv");
			const lines = (await readFile(claims, "utf8")).trimEnd().split("\n");
			await writeFile(claims, `${changed(lines).join("\n")}\n`);
			const program = ["--import", otherFiles, main, ...prepare(join(folder, "out"))];
			const job = await mpirun(launcher, 2, program, { OTHER_SOURCE: other });
			expect(job.code).toBe(2);
			expect(job.stderr).toContain("ranks 0 and 1 read different records; give all processes");
			expect(await readdir(folder)).toEqual(["other"]);
		});

		test("ends and leaves nothing behind if one process fails", async () => {
			const folder = await temporaryFolder();
			const program = ["--import", fullDisk, main, ...prepare(join(folder, "out"))];
			const { code, stdout, stderr } = await mpirun(launcher, 2, program);
			expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
			expect(stderr).toContain("rank 1 of 2: the disk is full (ENOSPC); free some space");
			expect(await readdir(folder)).toEqual([]);
		});
	},
);
