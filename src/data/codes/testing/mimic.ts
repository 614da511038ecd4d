import { existsSync, readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import type { IcdSystem } from "../map.js";

const data = new URL("../../../../../shared/data/", import.meta.url).pathname;

/** Public data that is not part of the repository: tests that need it are skipped without. */
export const realFiles = {
	map: `${data}phecode/phecode_map.csv`,
	catalogue: `${data}phecode/phecode_icd9_rolled.csv`,
	mimic3: `${data}mimic3_demo/DIAGNOSES_ICD.csv.gz`,
	mimic4: `${data}mimic4_demo_meds/diagnoses_extracted.csv`,
};
export const hasRealFiles = Object.values(realFiles).every((file) => existsSync(file));

const linesOf = (text: string) => text.trim().split(/\r?\n/).slice(1);

/** The diagnosis records of the MIMIC-III demo. */
export function mimic3Diagnoses(): [IcdSystem, string][] {
	const text = gunzipSync(readFileSync(realFiles.mimic3)).toString();
	return linesOf(text).map((line) => ["ICD9CM", line.split(",")[4]?.replaceAll('"', "") ?? ""]);
}

/** The diagnosis records of the MIMIC-IV demo: `DIAGNOSIS//ICD//9//5715`. */
export function mimic4Diagnoses(): [IcdSystem, string][] {
	return linesOf(readFileSync(realFiles.mimic4, "utf8")).map((line) => {
		const [, , version, code = ""] = line.split(",")[2]?.split("//") ?? [];
		return [version === "9" ? "ICD9CM" : "ICD10CM", code];
	});
}
