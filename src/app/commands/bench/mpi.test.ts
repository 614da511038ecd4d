import { expect, test } from "vitest";
import { launchers } from "../../../engine/mpi/testing/mpirun.js";
import { runBuilt } from "../testing/run-built.js";
import { type MpiReport, renderMpi } from "./mpi.js";

const mpich = launchers.find(({ name }) => name === "MPICH");

test.runIf(mpich)("bench mpi times a job beside one process", async () => {
	const { code, stdout, stderr } = await runBuilt([
		...["bench", "mpi", "--launcher", mpich?.command as string, "--preset", "tiny"],
		...["--batch", "2", "--length", "8", "--steps", "1", "--rounds", "1", "--json"],
	]);
	expect({ code, failed: code === 0 ? "" : stderr }).toEqual({ code: 0, failed: "" });
	const report: MpiReport = JSON.parse(stdout);
	expect(report.gradientBytes).toBe(4 * report.parameters);
	expect(report.measured.map(({ processes, threads }) => [processes, threads])).toEqual([
		...[
			[1, 1],
			[1, 2],
			[2, 1],
		],
	]);
	const [one, , job] = report.measured;
	expect(one?.efficiency).toBe(1);
	expect(job?.efficiency).toBeCloseTo(
		(one?.secondsPerStep as number) / (2 * (job?.secondsPerStep as number)),
		10,
	);
	expect(job?.sumSeconds).toBeGreaterThan(0);
	expect(report.simulated.map(({ processes }) => processes)).toEqual([8, 64, 512]);
	const efficiencies = report.simulated.map(({ efficiency }) => efficiency);
	expect(efficiencies.toSorted((a, b) => b - a)).toEqual(efficiencies);
	expect(renderMpi(report)).toMatch(/^trajgpt tiny, .* per step\n\nprocesses +threads each/);
});

test("a launcher that is not installed is named", async () => {
	const argv = [
		"bench",
		"mpi",
		"--launcher",
		"no-such-launcher",
		"--preset",
		"tiny",
		"--batch",
		"2",
	];
	const { code, stderr } = await runBuilt([...argv, "--length", "4", "--steps", "1"]);
	expect(code).toBe(2);
	expect(stderr).toContain("no-such-launcher is not installed");
});
