import { availableParallelism } from "node:os";
import { type Command, InvalidArgumentError, Option } from "commander";
import { type Provider, precisions, providers } from "../../engine/runtime/index.js";
import { machineMemory, mostThreads } from "../../engine/runtime/machine-limits.js";

/** A parser for an option that is a whole number within bounds, both included. */
export function wholeNumber(least: number, most: number): (text: string) => number {
	return (text) => {
		const value = Number(text);
		if (!/^-?\d+$/.test(text) || !Number.isSafeInteger(value) || value < least || value > most)
			throw new InvalidArgumentError(`Expected a whole number from ${least} to ${most}.`);
		return value;
	};
}

/** More people than any country has; whether they fit on the disk is checked later. */
export const mostPeople = 2_000_000_000;

/** Parses a number of threads: threads beyond the cores only wait, and take memory. */
export function threadCount(text: string): number {
	const most = mostThreads();
	const value = Number(text);
	if (!/^\d+$/.test(text) || value < 1 || value > most)
		throw new InvalidArgumentError(
			`Expected a whole number from 1 to ${most}: this machine has ${availableParallelism()} cores.`,
		);
	return value;
}

/** A parser for an option that is a number within bounds, both included. */
export function numberBetween(least: number, most: number): (text: string) => number {
	return (text) => {
		const value = Number(text);
		if (text.trim() === "" || !(value >= least && value <= most))
			throw new InvalidArgumentError(`Expected a number from ${least} to ${most}.`);
		return value;
	};
}

/** The option that names a provider. */
export const providerOption = (names: readonly string[], description: string): Option =>
	new Option("--provider <name>", description)
		.choices(names)
		.argParser((name) => {
			if (names.includes(name)) return name;
			throw new InvalidArgumentError(
				`Allowed choices are ${names.join(", ")}; xla computes on a GPU.`,
			);
		})
		.default("cpu" satisfies Provider);

/** Adds where and how a command computes; `run.ts` checks both before the command begins. */
export const addComputeOptions = (command: Command, what = "execution provider"): Command =>
	command
		.addOption(
			providerOption(
				[...providers, "auto"],
				`${what}; xla is an accelerator, auto is xla where it can be used`,
			),
		)
		.addOption(
			new Option(
				"--precision <name>",
				"operands of matrix products with --provider xla (default: tf32)",
			).choices(precisions),
		);

const units: Readonly<Record<string, number>> = { "": 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30 };

/** A number of bytes: 512MB, 4g, 1073741824. */
export function byteSize(text: string): number {
	const [, digits, unit = ""] = /^(\d+(?:\.\d+)?)\s*([kmg]?)(?:i?b)?$/i.exec(text.trim()) ?? [];
	const bytes = Number(digits) * (units[unit.toLowerCase()] ?? Number.NaN);
	const most = machineMemory();
	if (!(bytes >= 64 * 2 ** 20 && bytes <= most))
		throw new InvalidArgumentError(
			`Expected 64MB to ${Math.floor(most / 2 ** 20)}MB, the memory of this machine, as in 512MB or 4GB.`,
		);
	return Math.floor(bytes);
}
