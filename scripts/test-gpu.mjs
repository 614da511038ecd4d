// Checks an accelerator with what is built in dist/: every operation with its gradients and every model against the
// CPU, and a few training steps of each precision. Skipped where there is no accelerator.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const file = (/** @type {string} */ path) => fileURLToPath(new URL(path, import.meta.url));
const trajgpt = file("../dist/bin/trajgpt.js");
const bench = file("../bench/main.mjs");

function run(/** @type {string[]} */ ...args) {
	const { status, stdout } = spawnSync(process.execPath, args, {
		stdio: ["ignore", "pipe", "inherit"],
		encoding: "utf8",
	});
	return { passed: status === 0, stdout };
}

const { accelerator } = JSON.parse(run(trajgpt, "doctor", "--json").stdout);
if (accelerator.devices.length === 0) {
	console.error(`test-gpu: skipped: ${accelerator.problem ?? "no PJRT plugin was found"}`);
	process.exit(0);
}
const lines = [
	"operations --provider xla --repetitions 3",
	...["float32", "bf16"].map((precision) => `models --provider xla --precision ${precision}`),
	...["tf32", "bf16", "float32"].map(
		(precision) => `step --no-peer --steps 5 --provider xla --precision ${precision}`,
	),
];
for (const line of lines) {
	const { passed, stdout } = run(bench, ...line.split(" "));
	process.stdout.write(stdout);
	if (!passed) process.exitCode = 1;
}
