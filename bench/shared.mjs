import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { defineCommand } from "../dist/app/commands/define-command.js";
import {
	choice,
	computeFields,
	flag,
	option,
	providerNames,
	readBy,
	threads,
	whole,
} from "../dist/app/commands/fields.js";
import { Exit, printJson } from "../dist/app/commands/io.js";
import { InputError } from "../dist/base/errors.js";
import { random } from "../dist/base/random.js";
import { precisions } from "../dist/engine/runtime/index.js";
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

export const flags = (options) =>
	Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);

export const presetField = (preset, description = "model sizes") =>
	option("name", description, z.string().default(preset));

export const threadsField = (description = "number of threads", usual = availableParallelism()) =>
	threads.default(usual).describe(description);

export const countField = (description, usual, most = 1_000_000) =>
	whole(1, most).default(usual).describe(description);

export const vocabField = (usual) =>
	whole(20, 1_000_000).default(usual).describe("vocabulary size of the model");

export const objectiveField = (description) =>
	option("name", description, z.enum(["next", "horizon"]).default("next"));

/** Numbers separated by commas, each as a schema of whole numbers allows. */
export const numbersBy = (schema) =>
	readBy((text) =>
		text.split(",").map((digits) => {
			const number = schema.safeParse(/^\d+$/.test(digits) ? Number(digits) : undefined);
			if (number.success) return number.data;
			const { minValue, maxValue } = schema;
			const { expected } = schema.meta() ?? {};
			throw new InputError(expected ?? `Expected a whole number from ${minValue} to ${maxValue}.`);
		}),
	);

export const modelFields = (preset) => ({
	preset: presetField(
		preset,
		`model sizes: ${Object.keys(modelById("trajgpt").presets).join(", ")}`,
	),
	threads: threadsField(),
	...computeFields(),
});

/** The engine that a benchmark compares with the CPU. */
export const checkedEngineFields = (providers, description) => ({
	provider: option("name", description, providerNames(providers).default("cpu")),
	precision: choice(
		"name",
		"operands of matrix products with --provider xla (default: float32)",
		precisions,
	),
});

/** A command that prints what `measure` returns, and fails with 1 where `failed` says so. */
export const benchmark = ({ options, measure, render, failed, ...definition }) =>
	defineCommand({
		...definition,
		options: { ...options, json: flag("print one JSON document") },
		async run(io, values) {
			const result = await measure(io, values);
			if (values.json) printJson(io, result);
			else io.stdout.write(render(result));
			if (failed?.(result)) throw new Exit(1);
		},
	});

export async function timed(work) {
	const began = performance.now();
	const result = await work();
	return { result, seconds: (performance.now() - began) / 1000 };
}

export const milliseconds = (seconds, digits = 0) => `${(seconds * 1000).toFixed(digits)} ms`;

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
