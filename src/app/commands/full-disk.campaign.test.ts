import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { cp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, beforeEach, expect, test, vi } from "vitest";
import { temporaryFolder } from "../../data/records/testing/temporary-folder.js";
import { computeCells } from "./compare/cells.js";
import { writeTables } from "./compare/run.js";
import { progressOf } from "./io.js";
import { captured, done, refusal, words } from "./testing/captured.js";
import { clinicRun } from "./testing/clinic-run.js";

const disk = vi.hoisted(() => ({ isFull: (_file: string): boolean => false }));
vi.mock("node:fs/promises", async (original) => {
	const fs = await original<typeof import("node:fs/promises")>();
	return {
		...fs,
		writeFile: async (...given: Parameters<typeof fs.writeFile>) => {
			const [file, content] = given;
			if (!disk.isFull(String(file))) return fs.writeFile(...given);
			// A part fits.
			await fs.writeFile(file as string, (content as string).slice(0, 10));
			throw Object.assign(new Error("ENOSPC"), { code: "ENOSPC", path: String(file) });
		},
	};
});

let root: string;
let run: string;
beforeAll(async () => {
	({ root, run } = await clinicRun());
});
beforeEach(() => {
	disk.isFull = () => false;
});

const copied = async (name: string) => {
	const folder = join(root, name);
	await cp(run, folder, { recursive: true });
	return folder;
};
const filesIn = (folder: string) =>
	readdirSync(folder, { recursive: true, withFileTypes: true })
		.filter((entry) => entry.isFile())
		.map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
		.sort();

test("report on a full disk exits with 2, names the cause, and keeps the earlier page", async () => {
	const folder = await copied("reported");
	await done`report ${folder} --threads 1`;
	const page = readFileSync(join(folder, "report.html"));
	const before = filesIn(folder);
	for (const full of [/report\.html/, /figures/]) {
		disk.isFull = (file) => full.test(file);
		expect(await refusal`report ${folder} --threads 1`).toMatch(
			/error: cannot write .*: the disk is full at .* \(ENOSPC\); free some space or choose another folder\n$/,
		);
		expect(readFileSync(join(folder, "report.html"))).toEqual(page);
		expect(filesIn(folder)).toEqual(before);
	}
});

test("evaluate checks that it can write before it computes", async () => {
	const folder = await copied("read-only");
	disk.isFull = (file) => file.includes("eval");
	expect(await refusal`evaluate ${folder} --task next`).toContain(
		`error: cannot write ${join(folder, "eval", "next.json")}: the disk is`,
	);
	expect(filesIn(folder)).toEqual(filesIn(run));
});

test.each([[[]], [["--json"]]])(
	"evaluate %j prints its results if they can no longer be written",
	async (more) => {
		const folder = await copied(`evaluated${more.join("")}`);
		let writes = 0;
		disk.isFull = (file) => file.includes("eval") && ++writes > 1;
		const argv = ["evaluate", folder, "--task", "next", "--draws", "20", "--threads", "1"];
		const { code, stdout, stderr } = await captured(words`${argv} ${more}`);
		expect(code).toBe(2);
		expect(stderr).toMatch(
			/error: cannot write .*next\.json: the disk is full .*are printed above\n/,
		);
		if (more.length === 0) {
			expect(stdout).toContain("TrajGPT");
			expect(stdout).toContain("\nnot written: cannot write ");
		} else {
			const [measured] = JSON.parse(stdout).next.runs;
			expect(measured.evaluation.rows[0].metrics.nats.value).toBeGreaterThan(0);
			expect(measured).toMatchObject({ run: folder, notWritten: expect.stringContaining("full") });
			expect(measured).not.toHaveProperty("file");
		}
		expect(existsSync(join(folder, "eval", "next.json"))).toBe(false);
		expect(readdirSync(join(folder, "eval"))).toEqual([]);
	},
);

const io = () => {
	const said = { stdout: "", stderr: "" };
	const into = (stream: "stdout" | "stderr") => ({
		write: (text: string) => {
			said[stream] += text;
		},
	});
	return { said, io: { stdout: into("stdout"), stderr: into("stderr"), env: {} } };
};

test("compare: a table that cannot be written is an error and keeps the earlier one", async () => {
	const folder = await temporaryFolder();
	const comparison = { columns: [], lines: [], differences: [], notes: [], failed: [] };
	await writeFile(join(folder, "table.json"), "earlier");
	disk.isFull = (file) => file.includes("table");
	const written = writeTables(folder, comparison as never);
	await expect(written).rejects.toThrow(
		`cannot write ${join(folder, "table.json")}: the disk is full`,
	);
	expect(readFileSync(join(folder, "table.json"), "utf8")).toBe("earlier");
	expect(readdirSync(folder)).toEqual(["table.json"]);
});

test("compare: a log that cannot be written does not stop a cell", async () => {
	const folder = await temporaryFolder();
	mkdirSync(join(folder, "logs", "gpt2-s1.log"), { recursive: true }); // in the log's place
	const { said, io: own } = io();
	const { failed } = await computeCells(folder, [{ id: "gpt2", seed: 1 }], {
		...{ jobs: 1, threads: 1, provider: "cpu", progress: progressOf(own) },
	});
	expect(said.stderr).toContain("gpt2 1: cannot write its log: ");
	expect(failed).toEqual([
		{ id: "gpt2", seed: 1, reason: expect.stringContaining("compare.json is missing") },
	]);
});
