import { cp, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Launcher, launchers, mpirun } from "../../engine/mpi/testing/mpirun.js";
import { readEventLog } from "../../model/train/event-log.js";
import { words } from "./testing/captured.js";
import { clinicRun } from "./testing/clinic-run.js";
import { imported, main, quick, runBuilt } from "./testing/run-built.js";

/*
 * Jobs of the built command line, where a launcher is installed. What is expected of them is computed by a process on
 * its own.
 */
let root: string;
let dataset: string;
let alone: string;
const at = (name: string) => join(root, name);
/** 20 steps and four validations. */
const training = [
	...["--preset", "tiny", "--epochs", "4", "--max-length", "32", "--batch-slots", "320"],
	...["--threads", "1", "--checkpoint-every", "5", "--batch-shapes", "1"],
	// With a higher rate, differences in the last digit grow faster.
	...["--learning-rate", "0.001"],
	...words`--set layers=1 --set heads=2 --set dim=16 --set key=8 --set value=16 --set ff=16`,
];

beforeAll(async () => {
	if (launchers.length === 0) return;
	({ root, dataset } = await clinicRun());
	alone = at("alone");
	expect(await runBuilt(["pretrain", dataset, "--out", alone, ...training])).toMatchObject({
		code: 0,
	});
});
afterAll(() => (root ? rm(root, { recursive: true }) : undefined));

const job = (launcher: Launcher, processes: number, argv: readonly string[]) =>
	mpirun(launcher, processes, [...quick, main, ...argv]);

async function succeeded(launcher: Launcher, processes: number, argv: readonly string[]) {
	const { code, stdout, stderr } = await job(launcher, processes, argv);
	expect({ code, failed: code === 0 ? "" : stderr }).toEqual({ code: 0, failed: "" });
	return stdout;
}

const terms = ["next", "horizon", "onset", "recurrence", "visit"];

/** The loss of every step. */
function lossesOf(run: string): number[] {
	return readEventLog(join(run, "log.jsonl"))
		.filter(({ valid }) => valid === undefined)
		.map((step) => terms.reduce((sum, term) => sum + (step[term] as number), 0));
}

function expectAlike(losses: readonly number[], expected: readonly number[]): void {
	expect(losses.length).toBe(expected.length);
	for (const [i, loss] of losses.entries())
		expect(Math.abs(loss / (expected[i] as number) - 1), `step ${i + 1}`).toBeLessThan(1e-5);
}

const weightsOf = (run: string) => readFile(join(run, "checkpoint", "state.safetensors"));

test.skipIf(launchers.length > 0)("needs Open MPI or MPICH", ({ skip }) => skip());

describe.each(launchers.map((launcher) => [launcher.name, launcher] as const))(
	"%s",
	(name, launcher) => {
		test.each([1, 2, 4])("%i processes take the steps of one", async (processes) => {
			const run = at(`${name}-${processes}`);
			const stdout = await succeeded(launcher, processes, [
				...["pretrain", dataset, "--out", run, ...training],
			]);
			expect(stdout.match(/parameters/g)).toHaveLength(1);
			const [own, expected] = [lossesOf(run), lossesOf(alone)];
			expect(expected.length).toBeGreaterThanOrEqual(20);
			expectAlike(own, expected);
			if (processes === 1) expect(own).toEqual(expected);
		});

		test("a job whose process was killed is continued by another number of processes", async () => {
			const run = at(`${name}-killed`);
			const argv = ["pretrain", dataset, "--out", run];
			const killing = { call: 60, signal: "SIGKILL" };
			const hooks = [...quick, ...imported("signal-at.mjs")];
			const killed = await mpirun(launcher, 2, [...hooks, main, ...argv, ...training], {
				SIGNAL_AT: JSON.stringify(killing),
			});
			expect(killed.code).not.toBe(0);
			expect(killed.stderr).toContain("the same command with --resume continues from the last");
			expect(lossesOf(run).length).toBeLessThan(lossesOf(alone).length);
			await succeeded(launcher, 3, [...argv, "--resume", "--threads", "1"]);
			expectAlike(lossesOf(run), lossesOf(alone));
		});

		// What is divided does not depend on the library.
		test.runIf(launcher === launchers[0])(
			"scores are those of one process, to the bit",
			async () => {
				const [one, many] = [at(`${name}-one`), at(`${name}-many`)];
				for (const copy of [one, many]) await cp(alone, copy, { recursive: true });
				const commands = (run: string) => [
					["embed", run, "--what", "patients", "--no-umap", "--out", join(run, "vectors.csv")],
					["risk", run, "--data", dataset, "--output", join(run, "risks.csv")],
					["evaluate", run, "--task", "next", "--draws", "20"],
					["evaluate", run, "--task", "forecast", "--lookup", "5", "--draws", "20"],
				];
				for (const argv of commands(one))
					expect(await runBuilt([...argv, "--threads", "1"])).toMatchObject({ code: 0 });
				for (const argv of commands(many))
					await succeeded(launcher, 2, [...argv, "--threads", "1"]);
				for (const file of ["vectors.csv", "risks.csv"])
					expect(await readFile(join(many, file), "utf8")).toBe(
						await readFile(join(one, file), "utf8"),
					);
				for (const task of ["next", "forecast"]) {
					const [own, other] = await Promise.all(
						[many, one].map(async (run) => {
							const { made: _made, ...evaluation } = JSON.parse(
								await readFile(join(run, "eval", `${task}.json`), "utf8"),
							);
							return evaluation;
						}),
					);
					expect(own).toEqual(other);
				}
			},
		);

		test("an error is reported once, and ends the job", async () => {
			const { code, stderr } = await job(launcher, 2, ["pretrain", dataset, "--out", alone]);
			expect(code).toBe(2);
			expect(stderr).toContain(`error: ${alone} is there already`);
			expect(stderr.match(/error: /g)).toHaveLength(1);
		});
	},
);

test.skipIf(launchers.length < 2)("the same number of processes repeats to the bit", async () => {
	const [open, mpich] = launchers.map(({ name }) => at(`${name}-2`)) as [string, string];
	expect((await weightsOf(open)).equals(await weightsOf(mpich))).toBe(true);
});
