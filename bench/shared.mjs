import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { Command } from "commander";
import { examples } from "../dist/app/commands/examples.js";
import { Exit, printJson } from "../dist/app/commands/io.js";
import { addComputeOptions, threadCount } from "../dist/app/commands/option-values.js";
import { random } from "../dist/base/random.js";
import { modelById } from "../dist/model/index.js";

export const main = fileURLToPath(new URL("main.mjs", import.meta.url));

/** Runs a program, and returns what it prints. Its messages are shown if `io` is given. */
export function output(program, args, io, env = {}) {
	return new Promise((resolve, reject) => {
		const child = spawn(program, args, {
			stdio: ["ignore", "pipe", "pipe"],
			env: { ...process.env, ...env },
		});
		let printed = "";
		let lastErrors = "";
		child.stdout.on("data", (text) => {
			printed += text;
		});
		child.stderr.on("data", (text) => {
			io?.stderr.write(String(text));
			lastErrors = (lastErrors + text).slice(-2000);
		});
		child.on("error", reject);
		child.on("close", (code) =>
			code === 0
				? resolve(printed)
				: reject(new Error(`${program} failed: ${lastErrors.trim().split("\n").at(-1)}`)),
		);
	});
}

/** The first Python that has a module, or undefined. Does not load the module. */
export async function findPythonWith(module) {
	const check = `import importlib.util, sys; sys.exit(importlib.util.find_spec("${module}") is None)`;
	// Debian puts modules under /usr/bin/python3, which another python3 may hide.
	for (const python of ["python3", "/usr/bin/python3"])
		try {
			await output(python, ["-c", check]);
			return python;
		} catch {}
	return undefined;
}

/** Options as a command line. */
export const flags = (options) =>
	Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);

/** The model and the engine of a benchmark. */
export function addModelOptions(command, preset) {
	const names = Object.keys(modelById("trajgpt").presets);
	command
		.option("--preset <name>", `model sizes: ${names.join(", ")}`, preset)
		.option("--threads <n>", "number of threads", threadCount, availableParallelism());
	return addComputeOptions(command);
}

/** A command that prints what `measure` returns, and fails with 1 where `failed` says so. */
export const benchmark =
	({ name, description, options, examples: lines, measure, render, failed }) =>
	(io) =>
		options(new Command(name).description(description))
			.option("--json", "print one JSON document")
			.addHelpText("after", examples(lines))
			.action(async (values) => {
				const result = await measure(io, values);
				if (values.json) printJson(io, result);
				else io.stdout.write(render(result));
				if (failed?.(result)) throw new Exit(1);
			});

export const median = (values) => {
	const sorted = [...values].sort((a, b) => a - b);
	const middle = sorted.length >> 1;
	return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
};

export function randomHistory(events, vocab, seed) {
	const draw = typeof seed === "number" ? random(seed) : seed;
	let time = 0;
	const tokens = Int32Array.from({ length: events }, () => 5 + draw.integer(vocab - 5));
	const times = Float64Array.from(tokens, () => {
		time += draw.uniform();
		return time;
	});
	return { tokens, times };
}
