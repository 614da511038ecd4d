import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../src/data/records/testing/temporary-folder.js";
import { measured } from "./testing/load.js";

const attempt = (checkout: string, python: string) =>
	measured(["authors-code", "--checkout", checkout, "--python", python]);

test("refuses a folder without a checkout, and a Python without a module", async () => {
	const folder = await temporaryFolder();
	expect(await attempt(folder, "python3")).toMatchObject({
		code: 2,
		stderr: `error: --checkout ${folder} has no models/TrajGPT.py; expected a clone of https://github.com/li-lab-mcgill/TrajGPT\n`,
	});
	await mkdir(join(folder, "models"));
	await writeFile(join(folder, "models", "TrajGPT.py"), "");
	const python = join(folder, "python");
	await writeFile(python, "#!/bin/sh\necho torch pandas\n");
	await chmod(python, 0o755);
	expect(await attempt(folder, python)).toMatchObject({
		code: 2,
		stderr: `error: --python ${python} lacks torch, pandas, which the authors' code imports; install them, or name another Python\n`,
	});
	const missing = join(folder, "nowhere");
	const { code, stderr } = await attempt(folder, missing);
	expect(code).toBe(2);
	expect(stderr).toContain(`error: --python ${missing} does not run: `);
});
