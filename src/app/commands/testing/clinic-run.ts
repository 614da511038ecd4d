import { createHash } from "node:crypto";
import { join } from "node:path";
import { sharedFixture } from "../../../base/files/testing/shared-fixture.js";
import { builtInMap } from "../../../data/codes/index.js";
import { type PrepareOptions, prepare } from "../../../data/cohort/index.js";
import { smallOptions } from "../../../data/cohort/testing/prepared.js";
import { clinicSource } from "../../../evaluate/charts/testing/clinic-source.js";
import { useWholeNetwork } from "../../../model/train/testing/whole-network.js";
import { done, words } from "./captured.js";

/** A tiny model, trained for a moment on an invented clinic of 60 patients. */
export async function clinicRun(labels: PrepareOptions["labels"] = []) {
	const hash = createHash("sha256").update(JSON.stringify(labels)).digest("hex");
	const root = await sharedFixture(`clinic-${hash.slice(0, 8)}`, async (root) => {
		const [run, dataset] = [join(root, "run"), join(root, "data")];
		await prepare(clinicSource(60), dataset, { ...smallOptions, map: builtInMap(), labels });
		const sizes = words`--set layers=2 --set heads=2 --set dim=12 --set key=8 --set value=12 --set ff=16`;
		await done`pretrain ${dataset} --out ${run} --epochs 1 --threads 1 --preset tiny ${sizes}`;
		useWholeNetwork(run);
	});
	return { root, run: join(root, "run"), dataset: join(root, "data") };
}
