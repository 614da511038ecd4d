import { InvalidArgumentError, Option } from "commander";
import { type Provider, providers } from "../runtime/index.js";

/** A parser for an option that is a whole number of at least `least`. */
export function wholeNumber(least: number): (text: string) => number {
	return (text) => {
		const value = Number(text);
		if (!/^-?\d+$/.test(text) || !Number.isSafeInteger(value) || value < least)
			throw new InvalidArgumentError(`Expected a whole number of at least ${least}.`);
		return value;
	};
}

export function positiveNumber(text: string): number {
	const value = Number(text);
	if (text.trim() === "" || !Number.isFinite(value) || value <= 0)
		throw new InvalidArgumentError("Expected a number above 0.");
	return value;
}

export const providerOption = (): Option =>
	new Option("--provider <name>", "where to compute; webgpu needs a GPU and its Vulkan driver")
		.choices(providers)
		.default("cpu" satisfies Provider);
