import { join } from "node:path";
import { sharedFixture } from "../../../base/files/testing/shared-fixture.js";
import { done, words } from "./captured.js";

/** A folder with a small model in `run`, trained briefly on simulated patients and evaluated. */
export const simulatedRun = () =>
	sharedFixture("simulated", async (root) => {
		const [population, dataset, run] = ["population", "dataset", "run"].map((name) =>
			join(root, name),
		) as [string, string, string];
		const sizes = words`--set layers=2 --set heads=2 --set dim=24 --set key=16 --set value=24 --set ff=32`;
		await done`simulate --patients 240 --out ${population} --seed 1`;
		await done`prepare ${population} --from csv --out ${dataset}`;
		await done`pretrain ${dataset} --out ${run} --epochs 1 --threads 1 --max-length 32 --preset tiny ${sizes}`;
		await done`evaluate ${run} --task next --threads 1`;
	});
