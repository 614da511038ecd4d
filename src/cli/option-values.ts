import { InvalidArgumentError } from "commander";

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
