// Small records, a dataset and a trained run that the campaigns copy from.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { faultOf, run } from "./process.mjs";

/**
 * @typedef {object} World
 * @property {string} folder
 * @property {number} patients
 * @property {boolean} small
 * @property {boolean} timing whether latencies are judged, not only recorded
 * @property {number} attackSeconds
 * @property {readonly string[]} training options of pretrain
 * @property {string} population CSV
 * @property {string} populationParquet
 * @property {string} fhir
 * @property {string} dataset
 * @property {string} run
 * @property {string} served the run that the service serves
 * @property {string} export
 */

/** @param {string} folder @param {boolean} small @returns {Promise<Omit<World, "served">>} */
export async function makeWorld(folder, small) {
	const at = (/** @type {string} */ name) => join(folder, name);
	const patients = small ? 24 : 300;
	// Seven steps. Hazards would take half of the time.
	const least = ["--epochs", "1", "--max-length", "16", "--batch-slots", "384", "--no-hazards"];
	const training = [
		...["--preset", "tiny", "--threads", "1"],
		...(small ? least : ["--epochs", "2", "--max-length", "64"]),
		...["layers=1", "dim=16", "key=8", "value=16", "ff=16"].flatMap((pair) => ["--set", pair]),
	];
	const must = async (/** @type {string[]} */ argv) => {
		const finished = await run(argv);
		if (finished.code !== 0)
			throw new Error(`no ${argv[0]} to begin with: ${faultOf(finished) ?? finished.stderr}`);
	};
	mkdirSync(folder, { recursive: true });
	const simulate = ["simulate", "--patients", String(patients)];
	await Promise.all([
		must([...simulate, "--out", at("population")]),
		must([...simulate, "--out", at("population-parquet"), "--format", "parquet"]),
	]);
	await must(["prepare", at("population"), "--from", "csv", "--out", at("dataset")]);
	await must(["pretrain", at("dataset"), "--out", at("run"), ...training]);
	await must(["export", at("run"), "--out", at("export")]);
	mkdirSync(at("fhir"));
	writeFileSync(join(at("fhir"), "bundle.json"), JSON.stringify(fhirBundle(20)));
	return {
		...{ folder, patients, small, training, timing: !small, attackSeconds: small ? 0.5 : 15 },
		population: at("population"),
		populationParquet: at("population-parquet"),
		fhir: at("fhir"),
		dataset: at("dataset"),
		run: at("run"),
		export: at("export"),
	};
}

/** Invented patients with a diagnosis of hypertension and one of diabetes each. */
function fhirBundle(/** @type {number} */ patients) {
	const entry = Array.from({ length: patients }, (_, i) => {
		const id = `f${i}`;
		const condition = (/** @type {string} */ code, /** @type {string} */ recordedDate) => ({
			resource: {
				...{ resourceType: "Condition", subject: { reference: `Patient/${id}` }, recordedDate },
				code: { coding: [{ system: "http://hl7.org/fhir/sid/icd-10-cm", code }] },
			},
		});
		return [
			{ resource: { resourceType: "Patient", id, gender: "female", birthDate: "1950-06-01" } },
			condition("I10", "2010-03-01"),
			condition("E11.9", "2012-09-15"),
		];
	});
	return { resourceType: "Bundle", type: "collection", entry: entry.flat() };
}
