// Runs the demo once on a Node newer than the one that is needed, from the npm registry.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const major = 26;
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const name = `node-${process.platform}-${process.arch}`;
const say = (/** @type {string} */ text) => process.stderr.write(`newer-node: ${text}\n`);

/** Installs the newest Node of the major version. */
function install(/** @type {string} */ folder) {
	const argv = ["install", "--prefix", folder, "--no-save", "--no-audit", "--no-fund"];
	spawnSync("npm", [...argv, "--loglevel=error", `${name}@${major}`], {
		stdio: ["ignore", "ignore", 2],
		timeout: 240_000,
	});
	return join(folder, "node_modules", name, "bin", "node");
}

/** Runs the demo on a Node, with people who have labels to train and to validate with. */
function runDemo(/** @type {string} */ node, /** @type {string} */ out) {
	const small = ["--patients", "30", "--epochs", "2", "--seed", "27", "--threads", "2"];
	const command = join(root, "dist", "bin", "trajgpt.js");
	return spawnSync(node, [command, "demo", "--out", out, ...small], {
		stdio: ["ignore", "ignore", "pipe"],
		encoding: "utf8",
	});
}

const folder = mkdtempSync(join(tmpdir(), "trajgpt-newer-node-"));
try {
	const node = install(folder);
	if (existsSync(node)) {
		const version = spawnSync(node, ["--version"], { encoding: "utf8" }).stdout.trim();
		const { status, stderr } = runDemo(node, join(folder, "demo"));
		say(status === 0 ? `the demo runs on Node ${version}` : `the demo fails on Node ${version}`);
		if (status !== 0) {
			process.stderr.write(stderr);
			process.exitCode = 1;
		}
	} else say(`skipped: the registry did not give ${name}@${major}`);
} finally {
	rmSync(folder, { recursive: true, force: true });
}
