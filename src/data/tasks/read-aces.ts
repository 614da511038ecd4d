import { readdirSync, readFileSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { type Document, isScalar, LineCounter, parse, parseDocument, visit } from "yaml";
import { z } from "zod";
import { InputError } from "../../base/errors.js";
import { errorCode, systemRefusal } from "../../base/system-errors.js";
import { refusePipe } from "../records/bytes.js";
import {
	anyEvent,
	type Constraint,
	type Moment,
	microsecondsOf,
	type Predicate,
	recordEnd,
	recordStart,
	type Step,
	specialPredicates,
	type Task,
	type Window,
} from "./definition.js";

/** A window as an ACES file has it. */
const windowSchema = z.strictObject({
	start: z.string().nullish(),
	end: z.string().nullish(),
	start_inclusive: z.boolean("must be true or false"),
	end_inclusive: z.boolean("must be true or false"),
	has: z.record(z.string(), z.string()).nullish(),
	label: z.string().nullish(),
	index_timestamp: z.enum(["start", "end"]).nullish(),
});

type WindowFile = z.infer<typeof windowSchema>;

type Side = "start" | "end";

/**
 * Reads one window, whose bounds are relative to each other and to one moment outside: the bound `anchor` refers to the
 * moment `outside`.
 */
function readWindow(file: string, name: string, definition: WindowFile) {
	const refuse = (text: string): never => {
		throw new InputError(`${file}: window ${name} ${text}`);
	};
	/** As written: `[start of record, trigger + 24h]`. */
	const bounds = `${definition.start_inclusive ? "[" : "("}${definition.start ?? "start of record"}, ${definition.end ?? "end of record"}${definition.end_inclusive ? "]" : ")"}`;

	/** A bound as it is written: a reference and a step from it. */
	const bound = (side: Side): { readonly reference: string; readonly step: Step } => {
		const inclusive = definition[`${side}_inclusive`];
		const text = definition[side];
		if (text == null)
			return side === "start"
				? { reference: "end", step: { to: "previous", predicate: recordStart, inclusive } }
				: { reference: "start", step: { to: "next", predicate: recordEnd, inclusive } };
		const [, reference = "", sign, rest = ""] =
			/^\s*([\w.]+)\s*(?:(->|<-|\+|-)\s*(.+?)\s*)?$/s.exec(text) ?? [];
		if (!/^(\w+\.(start|end)|trigger|start|end)$/.test(reference))
			refuse(
				`has ${side} "${text}"; expected a moment and a step, such as trigger + 24h, input.end, start -> discharge, end <- admission, or null`,
			);
		if (reference === side) refuse(`has a ${side} that refers to itself`);
		if (sign === undefined) return { reference, step: { by: 0 } };
		if (sign === "->" || sign === "<-") {
			// Bounds that refer to a moment outside never take an event at that very moment.
			const isInner = reference === "start" || reference === "end";
			const to = sign === "->" ? "next" : "previous";
			return { reference, step: { to, predicate: rest, inclusive: isInner && inclusive } };
		}
		const by =
			microsecondsOf(rest) ??
			refuse(
				`has ${side} "${text}"; expected a time such as 24h, 30 minutes, 365 days; months and years have no fixed length`,
			);
		return { reference, step: { by: sign === "+" ? by : -by } };
	};

	const constraint = ([predicate, text]: [string, string]): Constraint => {
		const [, min, max] = /^\(\s*(\d+|None|)\s*,\s*(\d+|None|)\s*\)$/.exec(text.trim()) ?? [];
		const number = (part: string | undefined) => (part && part !== "None" ? Number(part) : null);
		const [least, most] = [number(min), number(max)];
		if (min === undefined || (least === null && most === null) || (least ?? 0) > (most ?? least!))
			refuse(
				`has ${predicate}: ${text}; expected how often it may occur, such as (1, None), (None, 0) or (2, 5)`,
			);
		return { predicate: predicate === "*" ? anyEvent : predicate, min: least, max: most };
	};

	const [start, end] = [bound("start"), bound("end")];
	if (definition.start == null && definition.end == null)
		refuse("has neither start nor end; expected one that refers to the trigger");
	const anchor: Side = start.reference === "end" ? "end" : "start";
	if ((anchor === "end") === (end.reference === "start"))
		refuse(
			`goes ${bounds}; expected one bound that refers to the other (start, end) and one that refers to the trigger or to another window`,
		);
	const [outer, inner] = anchor === "end" ? [end, start] : [start, end];
	const direction = "by" in inner.step ? inner.step.by : inner.step.to === "next" ? 1 : -1;
	if (anchor === "end" ? direction > 0 : direction < 0)
		refuse(`goes ${bounds}; expected a start that is not after the end`);
	const has = Object.entries(definition.has ?? {}).map(constraint);
	return {
		name,
		outside: outer.reference,
		predicates: [
			...[start, end].flatMap(({ step }) => ("to" in step ? [step.predicate] : [])),
			...has.map(({ predicate }) => predicate),
			...(definition.label ? [definition.label] : []),
		],
		label: definition.label ?? undefined,
		index: definition.index_timestamp ?? undefined,
		/** The window, and its two moments, which get the positions `first` and `first` + 1. */
		after(outside: number, first: number): { readonly window: Window; readonly moments: Moment[] } {
			const other: Side = anchor === "start" ? "end" : "start";
			return {
				moments: [
					{ name: `${name}.${anchor}`, from: outside, step: outer.step },
					{ name: `${name}.${other}`, from: first, step: inner.step },
				],
				window: {
					name,
					start: anchor === "start" ? first : first + 1,
					end: anchor === "end" ? first : first + 1,
					startInclusive: definition.start_inclusive,
					endInclusive: definition.end_inclusive,
					has,
					bounds,
				},
			};
		},
	};
}

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
	return readTask(
		name,
		task.file,
		parsed,
		{ ...parsed.predicates, ...replacements?.predicates },
		{ ...parsed.patient_demographics, ...replacements?.patient_demographics },
	);
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

/** Reads the predicates of a file that are used, each after its parts. */
function predicateReader(file: string, definitions: Readonly<Record<string, unknown>>) {
	const predicates = new Map<string, Predicate>();
	const refuse = (text: string): never => {
		throw new InputError(`${file}: ${text}`);
	};
	const addPlain = (name: string, path: string, definition: unknown, isStatic: boolean) => {
		const isPlaceholder = (value: unknown) => value === placeholder;
		const parsed = isPlaceholder(definition) ? undefined : checked(file, path, definition, plain);
		if (!parsed || isPlaceholder(parsed.code))
			return refuse(
				`${path} is a placeholder (${placeholder}): the code depends on the dataset; pass a file that defines it with \`predicates\``,
			);
		const { code, value_min, value_max, value_min_inclusive, value_max_inclusive, ...more } =
			parsed;
		const { static: isStaticHere = false, other_cols, ...columns } = more;
		const bound = (value: number | null | undefined, inclusive: boolean | null | undefined) =>
			value == null ? undefined : { value, inclusive: inclusive ?? false };
		predicates.set(name, {
			kind: "plain",
			code: typeof code === "string" ? { equals: code } : code,
			min: bound(value_min, value_min_inclusive),
			max: bound(value_max, value_max_inclusive),
			columns: { ...(columns as Record<string, string>), ...other_cols },
			isStatic: isStatic || isStaticHere,
		});
	};
	const use = (name: string, place: string, within: readonly string[] = []): void => {
		if (within.length > deepest)
			refuse(`${place} combines predicates that combine others, more than ${deepest} deep`);
		if (specialPredicates.includes(name)) {
			if (within.length > 0) refuse(`${place} combines ${name}; expected predicates of the file`);
			return;
		}
		if (predicates.has(name)) return;
		const definition = definitions[name];
		if (definition === undefined)
			refuse(
				`${place} names the predicate "${name}", which is not defined; it defines ${Object.keys(definitions).join(", ") || "none"}: add it, or pass a file with \`predicates\``,
			);
		if (!word.test(name))
			refuse(`predicate "${name}" has a name with other characters than letters, digits, _`);
		if (within.includes(name)) refuse(`predicate "${name}" is defined by itself`);
		const path = `predicates.${name}`;
		if (typeof definition !== "object" || definition === null || !("expr" in definition)) {
			addPlain(name, path, definition, false);
			return;
		}
		const { expr } = checked(file, path, definition, derived);
		const [, kind, list] = /^(and|or)\((.*)\)$/s.exec(expr.trim()) ?? [];
		const of = (list ?? "").split(",").map((part) => part.trim());
		if (kind === undefined || of.length < 2)
			refuse(
				`${path} is "${expr}"; expected and(…) or or(…) of at least two predicates, as in or(discharge, death)`,
			);
		for (const part of of) use(part, path, [...within, name]);
		predicates.set(name, { kind: kind as "and" | "or", of });
	};
	return { predicates, addPlain, use };
}

function readTask(
	name: string,
	file: string,
	{ trigger, description, windows: windowFiles }: z.infer<typeof taskFile>,
	definitions: Readonly<Record<string, unknown>>,
	demographics: Readonly<Record<string, unknown>>,
): Task {
	const refuse = (text: string): never => {
		throw new InputError(`${file}: ${text}`);
	};
	const { predicates, addPlain, use } = predicateReader(file, definitions);
	for (const [name, definition] of Object.entries(demographics))
		addPlain(name, `patient_demographics.${name}`, definition, true);
	use(trigger, "trigger");
	const names = Object.keys(windowFiles ?? {});
	for (const window of names)
		if (!word.test(window))
			refuse(`window "${window}" has a name with other characters than letters, digits, _`);
	const waiting = Object.entries(windowFiles ?? {}).map(([window, definition]) =>
		readWindow(file, window, definition),
	);
	for (const { name, outside } of waiting) {
		const [owner = ""] = outside.split(".");
		if (owner !== "trigger" && !names.includes(owner))
			refuse(
				`window ${name} refers to "${outside}"; expected trigger, or the start or end of another window: ${names.join(", ")}`,
			);
	}
	const moments: Moment[] = [{ name: "trigger", from: -1, step: { by: 0 } }];
	const positionOf = (moment: string) => moments.findIndex(({ name }) => name === moment);
	const windows: Window[] = [];
	const labels: NonNullable<Task["label"]>[] = [];
	const indices: NonNullable<Task["index"]>[] = [];
	while (waiting.length > 0) {
		const next = waiting.findIndex(({ outside }) => positionOf(outside) >= 0);
		if (next < 0)
			refuse(
				`windows ${waiting.map(({ name }) => name).join(", ")} refer to each other in a circle; expected every window to lead to the trigger`,
			);
		const [{ name, outside, predicates: used, label, index, after }] = waiting.splice(next, 1) as [
			(typeof waiting)[number],
		];
		for (const predicate of used) use(predicate, `window ${name}`);
		const { window, moments: bounds } = after(positionOf(outside), moments.length);
		moments.push(...bounds);
		windows.push(window);
		if (label) labels.push({ window, predicate: label });
		if (index) indices.push({ window, moment: window[index] });
	}
	const single = <T extends { readonly window: Window }>(what: string, some: readonly T[]) =>
		some.length > 1
			? refuse(
					`windows ${some.map(({ window }) => window.name).join(" and ")} have a ${what}; expected at most one window with it`,
				)
			: some[0];
	return {
		name,
		description: typeof description === "string" ? description.trim() : undefined,
		predicates,
		demographics: [...predicates].flatMap(([name, predicate]) =>
			predicate.kind === "plain" && predicate.isStatic ? [name] : [],
		),
		trigger,
		moments,
		windows,
		label: single("label", labels),
		index: single("index_timestamp", indices),
	};
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
