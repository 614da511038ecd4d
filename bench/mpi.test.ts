import { expect, test } from "vitest";
import { launchers } from "../src/engine/mpi/testing/mpirun.js";
import { load, runBench } from "./testing/load.js";

const { efficiencyAt, renderMpi, sumSeconds } = await load("mpi");

type Steps = Readonly<Record<"processes" | "threads" | "efficiency", number>>;

const mpich = launchers.find(({ name }) => name === "MPICH");

test.runIf(mpich)("bench mpi times a job beside one process", async () => {
	const { code, stdout, stderr } = await runBench([
		"mpi",
		"--launcher",
		mpich?.command as string,
		..."--preset tiny --batch 2 --length 8 --steps 1 --rounds 1 --json".split(" "),
	]);
	expect({ code, failed: code === 0 ? "" : stderr }).toEqual({ code: 0, failed: "" });
	const report = JSON.parse(stdout);
	expect(report.gradientBytes).toBe(4 * report.parameters);
	expect(report.measured.map(({ processes, threads }: Steps) => [processes, threads])).toEqual([
		[1, 1],
		[1, 2],
		[2, 1],
	]);
	const [one, , job] = report.measured;
	expect(one?.efficiency).toBe(1);
	expect(job?.efficiency).toBeCloseTo(
		(one?.secondsPerStep as number) / (2 * (job?.secondsPerStep as number)),
		10,
	);
	expect(job?.sumSeconds).toBeGreaterThan(0);
	expect(report.simulated.map(({ processes }: Steps) => processes)).toEqual([8, 64, 512]);
	const efficiencies = report.simulated.map(({ efficiency }: Steps) => efficiency);
	expect(efficiencies.toSorted((a: number, b: number) => b - a)).toEqual(efficiencies);
	expect(renderMpi(report)).toMatch(/^trajgpt tiny, .* per step\n\nprocesses +threads each/);
});

test("a launcher that is not installed is named", async () => {
	const argv = ["mpi", "--launcher", "no-such-launcher", "--preset", "tiny", "--batch", "2"];
	const { code, stderr } = await runBench([...argv, "--length", "4", "--steps", "1"]);
	expect(code).toBe(2);
	expect(stderr).toContain("no-such-launcher is not installed");
});

const network = { latencySeconds: 1e-5, bytesPerSecond: 1e9, exchange: "ring" };

test("a ring sends N−1 messages twice, halving log₂ N", () => {
	// 2 · 3 · (10 µs + 1 MB / 1 GB/s)
	expect(sumSeconds(4e6, 4, network)).toBeCloseTo(2 * 3 * (1e-5 + 1e-3), 12);
	expect(sumSeconds(4e6, 4, { ...network, exchange: "halving" })).toBeCloseTo(
		2 * (2 * 1e-5 + 0.75 * 4e-3),
		12,
	);
	expect(sumSeconds(4e6, 1, network)).toBe(0);
});

test("efficiency is the part of a step in which processes compute", () => {
	const measured = { computeSeconds: 6.06e-3, bytes: 4e6 };
	expect(efficiencyAt(measured, 4, network)).toBeCloseTo(0.5, 6);
	expect(efficiencyAt(measured, 1, network)).toBe(1);
});
