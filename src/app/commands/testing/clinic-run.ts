import { createHash } from "node:crypto";
import { join } from "node:path";
import { expect } from "vitest";
import { sharedFixture } from "../../../base/files/testing/shared-fixture.js";
import { type PrepareOptions, prepare } from "../../../data/cohort/index.js";
import { smallOptions } from "../../../data/cohort/testing/prepared.js";
import { clinicSource } from "../../../evaluate/charts/testing/clinic-source.js";
import { captured } from "./captured.js";

const sizes = ["layers=2", "heads=2", "dim=12", "key=8", "value=12", "ff=16"];

/** A tiny model, trained for a moment on an invented clinic of 60 patients. The caller removes `root`. */
export async function clinicRun(options: Pick<Partial<PrepareOptions>, "map" | "labels"> = {}) {
	const hash = createHash("sha256")
		.update(JSON.stringify([options.map?.source, options.labels]))
		.digest("hex");
	const root = await sharedFixture(`clinic-${hash.slice(0, 8)}`, async (root) => {
		const [run, dataset] = [join(root, "run"), join(root, "data")];
		await prepare(clinicSource(60), dataset, { ...smallOptions, ...options });
		const { code, stderr } = await captured([
			...["pretrain", dataset, "--out", run, "--epochs", "1", "--threads", "1"],
			...["--preset", "tiny", ...sizes.flatMap((pair) => ["--set", pair])],
		]);
		expect({ code, failed: code === 0 ? "" : stderr }).toEqual({ code: 0, failed: "" });
	});
	return { root, run: join(root, "run"), dataset: join(root, "data") };
}
