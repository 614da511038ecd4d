import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { splitOf } from "../../data/cohort/people.js";
import { demoDefaults, splitParts } from "./demo/steps.js";

const root = new URL("../../../", import.meta.url);
const filesIn = (folder: string, ending: string) =>
	readdirSync(new URL(folder, root)).flatMap((name) =>
		name.endsWith(ending) ? [`${folder}${name}`] : [],
	);
const files = [
	"README.md",
	...filesIn("docs/", ".md"),
	...filesIn("docs/guides/", ".md"),
	...filesIn("src/app/commands/", ".ts"),
];

/** Patients of the demo, and of the dataset of docs/guides/first-steps.md, which `prepare` splits by default. */
const splits: Readonly<Record<string, (patient: string) => string>> = {
	"runs/demo/run": (patient) => splitOf(patient, demoDefaults.seed, splitParts),
	"runs/data": (patient) => splitOf(patient, 0),
};

test("examples predict for test patients, not for those that the model was trained on", () => {
	const found = files.flatMap((file) =>
		[
			...readFileSync(new URL(file, root), "utf8").matchAll(
				/trajgpt \w+ (runs\/demo\/run|runs\/data) --patient (p\d{6})/g,
			),
		].map(([command, run, patient]) => ({
			...{ file, command },
			split: splits[run as string]?.(patient as string),
		})),
	);
	expect(found.length).toBeGreaterThan(8);
	for (const example of found) expect(example).toMatchObject({ split: "test" });
});
