import { readdirSync, readFileSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { type Document, isScalar, LineCounter, parse, parseDocument, visit } from "yaml";
import { z } from "zod";
import { InputError } from "../../base/errors.js";
import { errorCode, systemRefusal } from "../../base/system-errors.js";
import type { CodeTest } from "../cohort/label-definition.js";
import { refusePipe } from "../records/bytes.js";
import {
	type Moment,
	type Predicate,
	specialPredicates,
	type Task,
	type ValueBound,
	type Window,
} from "./definition.js";
import { WindowReader, windowSchema } from "./read-window.js";

const placeholder = "???";

const code = z.union([
	z.string("must be text; put a number in quotes").min(1),
	z.strictObject({ any: z.array(z.string()).min(1) }),
	z.strictObject({ regex: z.string().min(1) }),
]);

const plain = z
	.object({
		code,
		value_min: z.number().nullish(),
		value_max: z.number().nullish(),
		value_min_inclusive: z.boolean().nullish(),
		value_max_inclusive: z.boolean().nullish(),
		static: z.boolean().optional(),
		other_cols: z.record(z.string(), z.string()).optional(),
	})
	.catchall(z.string());

const derived = z.strictObject({ expr: z.string() });

const described = {
	description: z.unknown().optional(),
	metadata: z.unknown().optional(),
	predicates: z.record(z.string(), z.unknown()).nullish(),
	patient_demographics: z.record(z.string(), z.unknown()).nullish(),
};
const taskFile = z.strictObject({
	...described,
	trigger: z.string("must name a predicate"),
	windows: z.record(z.string(), windowSchema).nullish(),
});
const predicateFile = z.strictObject(described);

type PlainFile = z.infer<typeof plain>;

const see = "see docs/guides/tasks.md for the format";

/** Reads the task of an ACES file; `predicates` is a file whose predicates replace those of the same name. */
export async function readAces(file: string, predicates?: string): Promise<Task> {
	const name = basename(file).replace(/\.ya?ml$/i, "");
	const predicateText =
		predicates === undefined ? undefined : { file: predicates, text: await taskText(predicates) };
	return parseAces(name, { file, text: await taskText(file) }, predicateText);
}

/** The text of a task file. */
export async function taskText(file: string): Promise<string> {
	try {
		refusePipe(file, await stat(file));
		return await readFile(file, "utf8");
	} catch (error) {
		if (error instanceof InputError) throw error;
		if (errorCode(error) === "EISDIR")
			throw new InputError(`${file} is a folder; expected a task file (YAML)`, { cause: error });
		const reason = systemRefusal(error);
		if (!reason) throw error;
		throw new InputError(`cannot read ${file}: ${reason}; expected a task file (YAML)`, {
			cause: error,
		});
	}
}

interface TextFile {
	readonly file: string;
	readonly text: string;
}

/** The task of an ACES file, given its text. */
export function parseAces(name: string, task: TextFile, predicates?: TextFile): Task {
	const parsed = parseYaml(task, taskFile);
	const replacements = predicates && parseYaml(predicates, predicateFile);
	return new TaskReader(name, task.file, parsed, {
		...parsed.predicates,
		...replacements?.predicates,
	}).task({ ...parsed.patient_demographics, ...replacements?.patient_demographics });
}

function parseYaml<T>({ file, text }: TextFile, schema: z.ZodType<T>): T {
	const lineCounter = new LineCounter();
	// The parser compares each key with all before it: a minute for 60,000 predicates.
	const document = parseDocument(text, { lineCounter, uniqueKeys: false });
	const [wrong] = document.errors;
	if (wrong)
		throw new InputError(
			`${file}: line ${wrong.linePos?.[0].line ?? 1} is not YAML: ${wrong.message.split(/ at line|\n/)[0]}; correct it`,
		);
	const repeated = repeatedKey(document);
	if (repeated)
		throw new InputError(
			`${file}: line ${lineCounter.linePos(repeated.start).line} has the key "${repeated.key}" a second time in the same mapping; leave one out`,
		);
	return checked(file, "", contentOf(file, document) ?? {}, schema);
}

/** The first key that a mapping holds twice, and where. */
function repeatedKey(document: Document) {
	let repeated: { readonly key: unknown; readonly start: number } | undefined;
	visit(document, {
		Map(_, { items }) {
			const seen = new Set<unknown>();
			for (const { key } of items) {
				if (!isScalar(key)) continue;
				if (seen.has(key.value)) {
					repeated = { key: key.value, start: key.range?.[0] ?? 0 };
					return visit.BREAK;
				}
				seen.add(key.value);
			}
			return undefined;
		},
	});
	return repeated;
}

function contentOf(file: string, document: Document): unknown {
	try {
		return document.toJS();
	} catch (error) {
		// Aliases that stand for more than a task could hold.
		throw new InputError(
			`${file}: its aliases (*name) cannot be resolved: ${(error as Error).message}; write the parts out`,
			{ cause: error },
		);
	}
}

/** The content of a part of a file, by its schema. */
function checked<T>(file: string, place: string, value: unknown, schema: z.ZodType<T>): T {
	const parsed = schema.safeParse(value);
	if (parsed.success) return parsed.data;
	const [issue] = parsed.error.issues;
	const path = [...(place ? [place] : []), ...(issue?.path ?? [])].join(".");
	throw new InputError(`${file}: ${path ? `${path}: ` : ""}${issue?.message}; ${see}`);
}

const word = /^\w+$/;

/** How deep predicates may be combined. */
const deepest = 100;

class TaskReader {
	readonly #predicates = new Map<string, Predicate>();
	readonly #moments: Moment[] = [{ name: "trigger", from: -1, step: { by: 0 } }];

	constructor(
		readonly name: string,
		readonly file: string,
		readonly parsed: z.infer<typeof taskFile>,
		readonly definitions: Readonly<Record<string, unknown>>,
	) {}

	#refuse(text: string): never {
		throw new InputError(`${this.file}: ${text}`);
	}

	task(demographics: Readonly<Record<string, unknown>>): Task {
		for (const [name, definition] of Object.entries(demographics))
			this.#predicates.set(name, this.#plain(`patient_demographics.${name}`, definition, true));
		const { trigger, description } = this.parsed;
		this.#use(trigger, "trigger");
		const windows = this.#windows();
		const labels = windows.filter(({ label }) => label);
		const indices = windows.filter(({ index }) => index);
		for (const [what, windowsWithIt] of [
			["label", labels],
			["index_timestamp", indices],
		] as const)
			if (windowsWithIt.length > 1)
				this.#refuse(
					`windows ${windowsWithIt.map(({ window }) => window.name).join(" and ")} have a ${what}; expected at most one window with it`,
				);
		const [labelled] = labels;
		const [indexed] = indices;
		return {
			name: this.name,
			description: typeof description === "string" ? description.trim() : undefined,
			predicates: this.#predicates,
			demographics: [...this.#predicates].flatMap(([name, predicate]) =>
				predicate.kind === "plain" && predicate.isStatic ? [name] : [],
			),
			trigger,
			moments: this.#moments,
			windows: windows.map(({ window }) => window),
			label: labelled && { window: labelled.window, predicate: labelled.label as string },
			index: indexed && {
				window: indexed.window,
				moment: indexed.window[indexed.index as "start" | "end"],
			},
		};
	}

	/** Defines a predicate that something refers to, after its parts. */
	#use(name: string, place: string, within: readonly string[] = []): string {
		if (within.length > deepest)
			this.#refuse(`${place} combines predicates that combine others, more than ${deepest} deep`);
		if (specialPredicates.includes(name)) {
			if (within.length > 0)
				this.#refuse(`${place} combines ${name}; expected predicates of the file`);
			return name;
		}
		if (this.#predicates.has(name)) return name;
		const definition = this.definitions[name];
		if (definition === undefined)
			this.#refuse(
				`${place} names the predicate "${name}", which is not defined; it defines ${Object.keys(this.definitions).join(", ") || "none"}: add it, or pass a file with \`predicates\``,
			);
		if (!word.test(name))
			this.#refuse(`predicate "${name}" has a name with other characters than letters, digits, _`);
		if (within.includes(name)) this.#refuse(`predicate "${name}" is defined by itself`);
		const path = `predicates.${name}`;
		if (typeof definition === "object" && definition !== null && "expr" in definition) {
			const { expr } = checked(this.file, path, definition, derived);
			const [, kind, list] = /^(and|or)\((.*)\)$/s.exec(expr.trim()) ?? [];
			const of = (list ?? "").split(",").map((part) => part.trim());
			if (kind === undefined || of.length < 2)
				this.#refuse(
					`${path} is "${expr}"; expected and(…) or or(…) of at least two predicates, as in or(discharge, death)`,
				);
			for (const part of of) this.#use(part, path, [...within, name]);
			this.#predicates.set(name, { kind: kind as "and" | "or", of });
		} else this.#predicates.set(name, this.#plain(path, definition, false));
		return name;
	}

	#plain(path: string, definition: unknown, isStatic: boolean): Predicate {
		if (definition === placeholder) this.#placeholder(path);
		const { code, value_min, value_max, ...more } = checked(this.file, path, definition, plain);
		if (code === placeholder) this.#placeholder(path);
		const {
			value_min_inclusive,
			value_max_inclusive,
			static: isStaticHere,
			other_cols,
			...columns
		} = more;
		const bound = (value: PlainFile["value_min"], inclusive: PlainFile["value_min_inclusive"]) =>
			value == null ? undefined : ({ value, inclusive: inclusive ?? false } satisfies ValueBound);
		return {
			kind: "plain",
			code: codeTest(code),
			min: bound(value_min, value_min_inclusive),
			max: bound(value_max, value_max_inclusive),
			columns: { ...(columns as Record<string, string>), ...other_cols },
			isStatic: isStatic || isStaticHere === true,
		};
	}

	#placeholder(path: string): never {
		this.#refuse(
			`${path} is a placeholder (${placeholder}): the code depends on the dataset; pass a file that defines it with \`predicates\``,
		);
	}

	#windows(): { window: Window; label: string | undefined; index: string | undefined }[] {
		const definitions = Object.entries(this.parsed.windows ?? {});
		for (const [name] of definitions)
			if (!word.test(name))
				this.#refuse(`window "${name}" has a name with other characters than letters, digits, _`);
		const waiting = definitions.map(([name, window]) => new WindowReader(this.file, name, window));
		for (const { name, outside } of waiting) {
			const [owner] = outside.split(".");
			if (owner !== "trigger" && !definitions.some(([known]) => known === owner))
				this.#refuse(
					`window ${name} refers to "${outside}"; expected trigger, or the start or end of another window: ${definitions.map(([known]) => known).join(", ")}`,
				);
		}
		const made = [];
		const positions = new Map([["trigger", 0]]);
		while (waiting.length > 0) {
			const next = waiting.findIndex(({ outside }) => positions.has(outside));
			const reader = waiting[next];
			if (!reader)
				this.#refuse(
					`windows ${waiting.map(({ name }) => name).join(", ")} refer to each other in a circle; expected every window to lead to the trigger`,
				);
			waiting.splice(next, 1);
			for (const predicate of reader.predicates) this.#use(predicate, `window ${reader.name}`);
			const first = this.#moments.length;
			const moments = reader.moments(positions.get(reader.outside) as number, first);
			for (const moment of moments) positions.set(moment.name, this.#moments.push(moment) - 1);
			made.push({
				window: reader.window(positions),
				label: reader.definition.label ?? undefined,
				index: reader.definition.index_timestamp ?? undefined,
			});
		}
		return made;
	}
}

function codeTest(code: PlainFile["code"]): CodeTest {
	return typeof code === "string" ? { equals: code } : code;
}

/** The folder of the task files, next to this code before and after it is built. */
const folder = fileURLToPath(new URL("./library/", import.meta.url));

/** The names of the ready tasks. */
export const libraryTasks = (): string[] =>
	readdirSync(folder)
		.filter((name) => name.endsWith(".yaml"))
		.map((name) => name.slice(0, -".yaml".length))
		.sort();

/** The ACES file of a ready task. */
export function libraryFile(name: string): string {
	if (!libraryTasks().includes(name))
		throw new InputError(
			`there is no ready task "${name}"; there are ${libraryTasks().join(", ")}; pass a file of your own with \`aces\``,
			{ field: "task", value: name },
		);
	return readFileSync(`${folder}${name}.yaml`, "utf8");
}

/** What a ready task predicts, and what it needs. */
export const libraryDescription = (name: string): string =>
	(parse(libraryFile(name)) as { description: string }).description;

/** A ready task; `predicates` replace those of the same name. */
export const libraryTask = (
	name: string,
	predicates?: { readonly file: string; readonly text: string },
): Task => parseAces(name, { file: `${name}.yaml`, text: libraryFile(name) }, predicates);
