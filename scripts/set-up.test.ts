import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { temporaryFolder } from "../src/data/records/testing/temporary-folder.js";

const script = fileURLToPath(new URL("set-up.mjs", import.meta.url));

/** A clone with nothing installed, in which `npm` is a program that fails. */
async function bareClone(lock: string) {
	const root = await temporaryFolder();
	mkdirSync(join(root, "scripts"));
	cpSync(script, join(root, "scripts", "set-up.mjs"));
	writeFileSync(join(root, "package.json"), JSON.stringify({ engines: { node: ">=20.19" } }));
	const npm = join(root, "npm.js");
	writeFileSync(npm, "process.exitCode = 1;");
	const lockPath = join(root, ".set-up.lock");
	writeFileSync(lockPath, lock);
	const { status, stderr } = spawnSync(process.execPath, [join(root, "scripts", "set-up.mjs")], {
		encoding: "utf8",
		env: { ...process.env, npm_execpath: npm, SET_UP_WAIT_SECONDS: "0" },
	});
	return { status, stderr, lockPath };
}

test("waits a limited time for the lock of a running process, and names it", async () => {
	const { status, stderr, lockPath } = await bareClone(String(process.pid));
	expect(status).toBe(1);
	expect(stderr).toContain(`waiting for process ${process.pid}, which sets up here (it holds`);
	expect(stderr).toContain(`if it is another program, remove ${lockPath} and run this again`);
	expect(readFileSync(lockPath, "utf8")).toBe(String(process.pid));
});

test.each([
	["of a process that is gone", String(2 ** 22 + 1)],
	["without a process", ""],
])("a lock %s holds nothing up", async (_, lock) => {
	const { status, stderr, lockPath } = await bareClone(lock);
	expect(stderr).toContain("npm could not install the dependencies");
	expect(status).toBe(1);
	expect(existsSync(lockPath)).toBe(false);
});
