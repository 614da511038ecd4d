import { availableParallelism } from "node:os";
import { Argument, type Command, InvalidArgumentError, Option } from "commander";
import { z } from "zod";
import { InputError } from "../../base/errors.js";
import { choice, type Fields, flag, folder, option, readBy, whole } from "../../base/fields.js";
import { dayOfIsoDate } from "../../base/time.js";
import { type Provider, precisions, providers } from "../../engine/runtime/index.js";
import { machineMemory, mostThreads } from "../../engine/runtime/machine-limits.js";
import { momentOf, momentsOf, spanDays } from "../../predict/user-input/moments.js";

export * from "../../base/fields.js";

/** A field as JSON Schema, with the metadata of its option. */
interface FieldJson {
	readonly type?: string;
	readonly const?: unknown;
	readonly enum?: readonly string[];
	readonly minimum?: number;
	readonly exclusiveMinimum?: number;
	readonly maximum?: number;
	readonly description?: string;
	/** Name of the value in the help; with `...` the option takes several. */
	readonly placeholder?: string;
	/** A second name of the option, which the help shows first. */
	readonly alias?: string;
	readonly group?: string;
	readonly defaultText?: string;
	/** Description of the option that turns this one off. */
	readonly off?: string;
	/** What a wrong value is told, in place of the bounds. */
	readonly expected?: string;
}

const jsonOf = (schema: z.ZodType): FieldJson =>
	z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as FieldJson;

/** The same for a field that holds several: the function reads one text to several values. */
const listBy = <T>(read: (text: string) => readonly T[]) =>
	z.array(z.string()).transform((texts): readonly T[] => texts.flatMap((text) => read(text)));

/** A number; `describe` makes a field of it. */
export const decimal = (least: number, most: number) => z.number().min(least).max(most);

function expectedText(field: FieldJson): string | undefined {
	if (field.expected) return field.expected;
	if (field.enum) return `Allowed choices are ${field.enum.join(", ")}.`;
	if (!isNumber(field)) return undefined;
	const { minimum, exclusiveMinimum, maximum = Number.POSITIVE_INFINITY } = field;
	const low = exclusiveMinimum === undefined ? `from ${minimum}` : `above ${exclusiveMinimum}`;
	return `Expected a ${field.type === "integer" ? "whole number" : "number"} ${low} to ${maximum}.`;
}

const isNumber = ({ type }: FieldJson) => type === "number" || type === "integer";

/** Reads the value of an option from its text; what a list holds is read again with every text. */
function readerOf(schema: z.ZodType, field: FieldJson): (text: string) => unknown {
	const before: string[] = [];
	const input = (text: string): unknown => {
		if (isNumber(field)) return text.trim() === "" ? Number.NaN : Number(text);
		if (field.type !== "array") return text;
		before.push(text);
		return before;
	};
	return (text) => {
		try {
			const result = schema.safeParse(input(text), { error: () => expectedText(field) });
			if (result.success) return result.data;
			throw new InvalidArgumentError(result.error.issues[0]?.message ?? "");
		} catch (error) {
			// A message that names its option is complete; Commander adds the option to the others.
			const isPart = error instanceof InputError && !error.message.startsWith("--");
			throw isPart ? new InvalidArgumentError(error.message) : error;
		}
	};
}

const flagName = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** The options of a field on the command line: two for one that can be turned on and off. */
function optionsOf(name: string, schema: z.ZodType, field: FieldJson): Option[] {
	const { placeholder = field.enum ? "choice" : "n", alias, description, off } = field;
	const long = flagName(name);
	if (field.type === "boolean" || field.const === true)
		return [
			...(description === undefined ? [] : [new Option(`--${long}`, description)]),
			...(off === undefined ? [] : [new Option(`--no-${long}`, off)]),
		];
	const names = alias === undefined ? `--${long}` : `${alias}, --${long}`;
	const made = new Option(`${names} <${placeholder}>`, description);
	if (field.enum) made.choices(field.enum);
	const unset = schema.safeParse(undefined);
	const listText = Array.isArray(unset.data) ? unset.data.join(",") : undefined;
	made.makeOptionMandatory(!unset.success).default(unset.data, field.defaultText ?? listText);
	return [made.argParser(readerOf(schema, field))];
}

export function addFields(command: Command, fields: Fields): void {
	for (const [name, schema] of Object.entries(fields)) {
		const field = jsonOf(schema);
		for (const made of optionsOf(name, schema, field)) {
			command.addOption(field.group === undefined ? made : made.helpGroup(field.group));
			if (made.required && field.type !== "array") refuseRepeats(command, made);
		}
	}
}

/** Refuses a second value of an option that takes one; Commander would keep the last. */
function refuseRepeats(command: Command, option: Option): void {
	let first: string | undefined;
	command.on(`option:${option.name()}`, (value: string | null) => {
		const text = value ?? "";
		if (first === undefined) first = text;
		else
			throw new InputError(
				`${option.long} is given twice, with ${JSON.stringify(first)} and ${JSON.stringify(text)}; expected one value: leave one out`,
			);
	});
}

/** Adds an argument per field: `<name>`, `[name]` where it may be missing, with `...` where it is a list. */
export function addArguments(command: Command, fields: Fields): void {
	for (const [name, schema] of Object.entries(fields)) {
		const field = jsonOf(schema);
		const { type, description } = field;
		const shown = type === "array" ? `${name}...` : name;
		const isOptional = schema.safeParse(type === "array" ? [] : undefined).success;
		const made = new Argument(isOptional ? `[${shown}]` : `<${shown}>`, description);
		command.addArgument(isNumber(field) ? made.argParser(readerOf(schema, field)) : made);
	}
}

/** Times and lengths of time as users write them. */
export const moment = readBy(momentOf).optional();
export const moments = listBy((text) => momentsOf(text)).optional();
export const span = readBy(spanDays).optional();

/** Horizons in years, such as 1,5. */
export const horizonYears = readBy((text) => {
	const years = text.split(",").map(Number);
	if (years.every((one, i) => one > (years[i - 1] ?? 0) && one <= 100)) return years;
	throw new InputError(
		"Expected increasing numbers of years, above 0 and at most 100, for example 1,5.",
	);
}).optional();

const mostPatients = 1_000_000_000;

/** The first so many patients of a split, or all. */
export const patientCount = readBy((text): number | "all" => {
	if (text === "all") return text;
	const count = whole(1, mostPatients).safeParse(/^\d+$/.test(text) ? Number(text) : undefined);
	if (count.success) return count.data;
	throw new InputError(`Expected a whole number from 1 to ${mostPatients}, or all.`);
}).optional();

/** More people than any country has; whether they fit on the disk is checked later. */
export const mostPeople = 2_000_000_000;

export const seed = whole(0, Number.MAX_SAFE_INTEGER);

/** Threads beyond the cores only wait, and take memory. */
export const threads = whole(1, mostThreads()).meta({
	expected: `Expected a whole number from 1 to ${mostThreads()}: this machine has ${availableParallelism()} cores.`,
});

export const threadsField = threads.optional().describe("number of threads (default: all cores)");

/** A date as days since 1970-01-01. */
export const date = readBy((text) => {
	const day = dayOfIsoDate(text);
	if (day === undefined) throw new InputError("Expected a date such as 2012-06-01.");
	return day;
});

const byteUnits: Readonly<Record<string, number>> = { "": 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30 };

/** A number of bytes: 512MB, 4g, 1073741824. */
export const byteSize = readBy((text) => {
	const [, digits, unit = ""] = /^(\d+(?:\.\d+)?)\s*([kmg]?)(?:i?b)?$/i.exec(text.trim()) ?? [];
	const bytes = Number(digits) * (byteUnits[unit.toLowerCase()] ?? Number.NaN);
	const most = machineMemory();
	if (!(bytes >= 64 * 2 ** 20 && bytes <= most))
		throw new InputError(
			`Expected 64MB to ${Math.floor(most / 2 ** 20)}MB, the memory of this machine, as in 512MB or 4GB.`,
		);
	return Math.floor(bytes);
});

/** A provider of some, with a hint for a wrong one. */
export const providerNames = <T extends string>(names: readonly T[]) =>
	z.enum(names).meta({
		expected: `Allowed choices are ${names.join(", ")}; xla computes on a GPU.`,
	});

/** Where and how a command computes; `run.ts` checks both before the command begins. */
export const computeFields = (what = "execution provider") => ({
	provider: option(
		"name",
		`${what}; xla is an accelerator, auto is xla where it can be used`,
		// `auto` is replaced before a command begins.
		providerNames([...providers, "auto"] as Provider[]).default("cpu"),
	),
	precision: choice(
		"name",
		"operands of matrix products with --provider xla (default: tf32)",
		precisions,
	),
});

/** The distinct names of a list such as `gpt2, gru-d`, in order. */
export const namesIn = (text: string): string[] => [
	...new Set(
		text
			.split(",")
			.map((name) => name.trim())
			.filter((name) => name !== ""),
	),
];

export const datasetField = folder("the run's dataset, if it was moved");

/** For commands that read codes of new patients by the rules of a dataset. */
export const codeMapFields = {
	phecodeMap: option(
		"file",
		"the code map that the dataset was prepared with, if any",
		z.string().optional(),
		{ alias: "--map" },
	),
	keepIgnored: flag("use ignored rows of that map, if prepare did"),
};
