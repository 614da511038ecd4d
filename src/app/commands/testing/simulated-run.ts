import { join } from "node:path";
import { expect } from "vitest";
import { sharedFixture } from "../../../base/files/testing/shared-fixture.js";
import { captured } from "./captured.js";

/** A folder with a small model in `run`, trained briefly on simulated patients and evaluated. The caller removes it. */
export const simulatedRun = () =>
	sharedFixture("simulated", async (root) => {
		const [population, dataset, run] = ["population", "dataset", "run"].map((name) =>
			join(root, name),
		) as [string, string, string];
		const sizes = ["layers=2", "heads=2", "dim=24", "key=16", "value=24", "ff=32"];
		for (const argv of [
			["simulate", "--patients", "150", "--out", population, "--seed", "1"],
			["prepare", population, "--from", "csv", "--out", dataset],
			[
				...["pretrain", dataset, "--out", run, "--epochs", "1", "--threads", "1"],
				...["--max-length", "32", "--preset", "tiny", ...sizes.flatMap((pair) => ["--set", pair])],
			],
			["evaluate", run, "--task", "next", "--threads", "1"],
		]) {
			const { code, stderr } = await captured(argv);
			expect({ code, failed: code === 0 ? "" : stderr }).toEqual({ code: 0, failed: "" });
		}
	});
