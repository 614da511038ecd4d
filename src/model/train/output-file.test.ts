import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../data/records/testing/temporary-folder.js";
import { checkOutputFile } from "./output-file.js";

test("replaces the user's files, and none of a run or a dataset", async () => {
	const root = await temporaryFolder();
	const file = async (...names: string[]) => {
		const path = join(root, ...names);
		await mkdir(dirname(path), { recursive: true });
		await writeFile(path, "");
		return path;
	};
	const run = [
		...["run.json", "log.jsonl", "rates.json", "run.lock", "tensorboard/events"],
		...["best/state.safetensors", "eval/next.json", "tasks/chf/task.json"],
	];
	for (const name of run) await file("run", name);
	for (const name of ["manifest.json", "patients.parquet"]) await file("data", name);
	for (const name of run)
		await expect(checkOutputFile(join(root, "run", name), true)).rejects.toThrow(
			`is part of the run in ${join(root, "run")}, and \`replace\` will not replace it`,
		);
	await expect(checkOutputFile(join(root, "data", "patients.parquet"), true)).rejects.toThrow(
		`is part of the dataset in ${join(root, "data")}`,
	);
	const own = [await file("run", "report.html"), await file("run", "risks.csv")];
	for (const path of [...own, await file("data", "risks.csv"), join(root, "run", "best", "new")])
		await expect(checkOutputFile(path, true)).resolves.toBeUndefined();
	await expect(checkOutputFile(join(root, "run", "risks.csv"), false)).rejects.toThrow(
		"already exists",
	);
});
