// Checks an accelerator with what is built in dist/: every operation with its gradients and every model against the
// CPU, and a few training steps of each precision. Skipped where there is no accelerator.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const main = fileURLToPath(new URL("../dist/bin/trajgpt.js", import.meta.url));

function run(/** @type {string[]} */ ...args) {
	const { status, stdout } = spawnSync(process.execPath, [main, ...args], {
		stdio: ["ignore", "pipe", "inherit"],
		encoding: "utf8",
	});
	return { passed: status === 0, stdout };
}

const { accelerator } = JSON.parse(run("doctor", "--json").stdout);
if (accelerator.devices.length === 0) {
	console.error(`test-gpu: skipped: ${accelerator.problem ?? "no PJRT plugin was found"}`);
	process.exit(0);
}
const steps = ["tf32", "bf16", "float32"].map((precision) => [
	...["bench", "step", "--no-peer", "--steps", "5", "--provider", "xla", "--precision", precision],
]);
const operations = ["bench", "operations", "--provider", "xla", "--repetitions", "3"];
const models = ["float32", "bf16"].map((precision) => [
	...["bench", "models", "--provider", "xla", "--precision", precision],
]);
for (const args of [operations, ...models, ...steps]) {
	const { passed, stdout } = run(...args);
	process.stdout.write(stdout);
	if (!passed) process.exitCode = 1;
}
