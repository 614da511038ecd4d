import { expect, test } from "vitest";
import { runStages, type Stage } from "./stages.js";

test("runs each stage once, in order, with an estimate that adapts to the machine", async () => {
	let now = 0;
	const worked: string[] = [];
	const stage = (name: string, seconds: number, takes: number, done = false): Stage => ({
		name,
		seconds,
		isDone: () => done || worked.includes(name),
		work: async () => {
			worked.push(name);
			now += takes * 1000;
		},
	});
	let said = "";
	const io = {
		stdout: { write: () => undefined },
		stderr: { write: (text: string) => (said += text) },
		env: {},
	};
	const stages = [
		stage("a", 10, 40),
		stage("b", 5, 5, true),
		stage("c", 30, 60),
		stage("d", 20, 1),
	];
	await runStages(io, stages, () => now);
	expect(worked).toEqual(["a", "c", "d"]);
	// 60 s are planned at first. Then 50 are left, at (40 + 10)/(10 + 10) of the pace; then 20.
	expect(said).toBe(
		"[1/4] a (about 1m 00s left in all)\n" +
			"[3/4] c (about 2m 05s left in all)\n" +
			"[4/4] d (about 44s left in all)\n",
	);
});
