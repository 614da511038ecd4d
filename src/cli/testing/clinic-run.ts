import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { type PrepareOptions, prepare } from "../../cohort/index.js";
import { smallOptions } from "../../cohort/testing/prepared.js";
import { clinicSource } from "../../figures/testing/clinic-source.js";
import { captured } from "./captured.js";

const sizes = ["layers=2", "heads=2", "dim=12", "key=8", "value=12", "ff=16"];

/** A tiny model, trained for a moment on an invented clinic. The caller removes `root`. */
export async function clinicRun(patients = 60, options: Partial<PrepareOptions> = {}) {
	const root = await mkdtemp(join(tmpdir(), "trajgpt-clinic-"));
	const [run, dataset] = [join(root, "run"), join(root, "data")];
	await prepare(clinicSource(patients), dataset, { ...smallOptions, ...options });
	const { code, stderr } = await captured([
		...["pretrain", dataset, "--out", run, "--epochs", "1", "--threads", "1"],
		...["--preset", "tiny", ...sizes.flatMap((pair) => ["--set", pair])],
	]);
	expect({ code, failed: code === 0 ? "" : stderr }).toEqual({ code: 0, failed: "" });
	return { root, run, dataset };
}
