import { InputError } from "../../base/errors.js";
import { dayMicroseconds } from "../../base/time.js";
import type { CodeTest, LabelDefinition } from "../cohort/label-definition.js";
import { specialCount, type Vocabulary } from "../cohort/vocabulary.js";
import { medsCodeOf } from "./records.js";

/** Special predicates of ACES: every event, and the first and last event of a subject. */
export const anyEvent = "_ANY_EVENT";
export const recordStart = "_RECORD_START";
export const recordEnd = "_RECORD_END";
export const specialPredicates: readonly string[] = [anyEvent, recordStart, recordEnd];

export interface ValueBound {
	readonly value: number;
	readonly inclusive: boolean;
}

/** Counts the records of an event that have a code and, if asked for, a value. */
export interface PlainPredicate {
	readonly kind: "plain";
	readonly code: CodeTest;
	readonly min?: ValueBound | undefined;
	readonly max?: ValueBound | undefined;
	/** Texts that further columns must hold. */
	readonly columns: Readonly<Record<string, string>>;
	/** Whether it is about the records of a subject that have no time, such as sex. */
	readonly isStatic: boolean;
}

/** Is 1 at events where all (`and`) or some (`or`) of its predicates hold, else 0. */
interface DerivedPredicate {
	readonly kind: "and" | "or";
	readonly of: readonly string[];
}

export type Predicate = PlainPredicate | DerivedPredicate;

/** How to get from one moment to another. */
export type Step =
	| { readonly by: number }
	| {
			/** To the nearest event, in this direction, at which the predicate holds. */
			readonly to: "next" | "previous";
			readonly predicate: string;
			/** Whether an event at the very moment counts. */
			readonly inclusive: boolean;
	  };

/** The start or end of a window. */
export interface Moment {
	/** `trigger`, `input.end` … */
	readonly name: string;
	/** The position of the moment that it refers to, which comes before it; −1 for the trigger. */
	readonly from: number;
	readonly step: Step;
}

/** How often a predicate may hold in a window, bounds included. */
export interface Constraint {
	readonly predicate: string;
	readonly min: number | null;
	readonly max: number | null;
}

export interface Window {
	readonly name: string;
	/** Positions in `moments`. */
	readonly start: number;
	readonly end: number;
	readonly startInclusive: boolean;
	readonly endInclusive: boolean;
	readonly has: readonly Constraint[];
	/** As written, for messages. */
	readonly bounds: string;
}

/**
 * A task as in ACES: a tree of windows whose root is the trigger. Each event at which the trigger holds gives at most
 * one label. Times are microseconds since 1970-01-01.
 */
export interface Task {
	readonly name: string;
	/** What it predicts and what it needs, in the words of its author. */
	readonly description: string | undefined;
	/** Those that are used; a derived one comes after its parts. */
	readonly predicates: ReadonlyMap<string, Predicate>;
	/** Static predicates, all of which a subject must satisfy. */
	readonly demographics: readonly string[];
	readonly trigger: string;
	/** The trigger first; each refers to an earlier one. */
	readonly moments: readonly Moment[];
	/** Ordered by their moments. */
	readonly windows: readonly Window[];
	readonly label: { readonly window: Window; readonly predicate: string } | undefined;
	/** The prediction time; undefined if the task names none. */
	readonly index: { readonly window: Window; readonly moment: number } | undefined;
}

interface Range {
	readonly least: number;
	readonly most: number;
}

/** How far a step leads, in microseconds. */
function rangeOf(step: Step): Range {
	if ("by" in step) return { least: step.by, most: step.by };
	const nearest = step.inclusive ? 0 : 1;
	return step.to === "next"
		? { least: nearest, most: Number.POSITIVE_INFINITY }
		: { least: Number.NEGATIVE_INFINITY, most: -nearest };
}

/** How far one moment is after another, as far as the definition tells. */
function distance({ moments }: Task, from: number, to: number): Range {
	const wayTo = (moment: number): number[] =>
		moment <= 0 ? [] : [moment, ...wayTo(moments[moment]?.from ?? 0)];
	const [ahead, back] = [wayTo(to), wayTo(from)];
	const total = (way: readonly number[], other: readonly number[]) =>
		way
			.filter((moment) => !other.includes(moment)) // beyond the moment that both come from
			.map((moment) => rangeOf(moments[moment]?.step ?? { by: 0 }))
			.reduce((sum, one) => ({ least: sum.least + one.least, most: sum.most + one.most }), {
				least: 0,
				most: 0,
			});
	const [there, here] = [total(ahead, back), total(back, ahead)];
	return { least: there.least - here.most, most: there.most - here.least };
}

/**
 * Refuses a task whose target always overlaps its input: the input is everything up to and including the prediction
 * time, and the window called `input`.
 */
export function checkOverlap(task: Task): void {
	const { label, index, windows } = task;
	if (!label) return;
	const { window: target } = label;
	if (index) {
		const { most } = distance(task, index.moment, target.start);
		if (most < 0 || (most === 0 && target.startInclusive))
			refuse(
				task,
				`the prediction time, ${task.moments[index.moment]?.name} of ${windowText(index.window)}, is not before the target ${windowText(target)}: events at the prediction time are part of the input`,
			);
	}
	const input = windows.find(({ name }) => name === "input");
	if (!input || input === target) return;
	const { most } = distance(task, input.end, target.start);
	if (most < 0 || (most === 0 && target.startInclusive && input.endInclusive))
		refuse(task, `the input ${windowText(input)} overlaps the target ${windowText(target)}`);
}

const windowText = ({ name, bounds }: Window) => `${name} ${bounds}`;

function refuse(task: Task, text: string): never {
	throw new InputError(
		`task ${task.name}: ${text}; let the target start after the input, with start_inclusive: false where both meet`,
	);
}

/** What the labels of a task in the format of ACES mean; undefined if it has none. */
export function definitionOfTask(task: Task, source: string): LabelDefinition | undefined {
	const { label, index, description } = task;
	if (!label) return undefined;
	const ahead = index && distance(task, index.moment, label.window.end);
	const horizonDays =
		ahead && ahead.least === ahead.most && ahead.most > 0
			? ahead.most / dayMicroseconds
			: undefined;
	const without = withoutOf(task);
	return {
		what:
			firstSentence(description) ??
			`${label.predicate} in ${label.window.name} ${label.window.bounds}`,
		source,
		...(horizonDays !== undefined && { horizonDays }),
		...(without && { without }),
	};
}

/** The first sentence of a description, to stand within another sentence. */
function firstSentence(text: string | undefined): string | undefined {
	const [sentence] = (text ?? "").replace(/\s+/g, " ").split(/[.!?](?: |$)/);
	return sentence?.replace(/^[A-Z](?=[a-z ])/, (letter) => letter.toLowerCase()) || undefined;
}

/** The records of the label itself that a patient may not have before the prediction time, if the task says so. */
function withoutOf(task: Task): LabelDefinition["without"] {
	const { label, index, moments, windows } = task;
	const codes = label && codesOf(task, label.predicate);
	if (!index || !codes) return undefined;
	const window = windows.find(({ has, end }) => {
		const { least, most } = distance(task, end, index.moment);
		const endsThere = least === 0 && most === 0;
		return (
			endsThere && has.some(({ predicate, max }) => predicate === label.predicate && max === 0)
		);
	});
	if (!window) return undefined;
	const { from, step } = moments[window.start] as Moment;
	const days = from === window.end && "by" in step ? -step.by / dayMicroseconds : 0;
	return { codes: [...codes], ...(days > 0 && { withinDays: days }) };
}

/** The codes of a predicate; undefined if it asks for more than codes. */
function codesOf(
	{ predicates }: Pick<Task, "predicates">,
	name: string,
): readonly CodeTest[] | undefined {
	const predicate = predicates.get(name);
	if (predicate?.kind === "or") {
		const parts = predicate.of.map((part) => codesOf({ predicates }, part));
		return parts.every((part) => part !== undefined) ? parts.flat() : undefined;
	}
	if (predicate?.kind !== "plain") return undefined;
	const { code, min, max, columns, isStatic } = predicate;
	const isCodeAlone = !min && !max && !isStatic && Object.keys(columns).length === 0;
	return isCodeAlone ? [code] : undefined;
}

/** The tokens of codes; none if the vocabulary writes its codes in another way. */
export function tokensOf(vocabulary: Vocabulary, codes: readonly CodeTest[]): number[] {
	const tests = codes.map(testOf);
	return vocabulary.tokens.flatMap((token, at) =>
		at >= specialCount && tests.some((holds) => holds(medsCodeOf(token))) ? [at] : [],
	);
}

function testOf(test: CodeTest): (code: string) => boolean {
	if ("equals" in test) return (code) => code === test.equals;
	if ("any" in test) return (code) => test.any.includes(code);
	try {
		const [, ignoreCase, regex = ""] = /^(\(\?i\))?(.*)$/s.exec(test.regex) ?? [];
		const pattern = new RegExp(regex, ignoreCase ? "i" : "");
		return (code) => pattern.test(code);
	} catch {
		return () => false; // RE2 knows it, JavaScript does not
	}
}

const units: readonly (readonly [RegExp, number])[] = [
	[/^(w|wks?|weeks?)$/, 7 * 86_400],
	[/^(d|dys?|days?)$/, 86_400],
	[/^(h|hrs?|hours?)$/, 3600],
	[/^(m|mins?|minutes?)$/, 60],
	[/^(s|secs?|seconds?)$/, 1],
];

const part = /^(\d+(?:\.\d+)?)\s*([a-z]+)[\s,]*/;
/** 14:20:16, or 20:16 for minutes and seconds. */
const clock = /^(?:(\d+):)?(\d+):(\d{2}(?:\.\d+)?)$/;

/**
 * The microseconds of a duration as ACES writes them: `24h`, `2 hours`, `1 day, 14:20:16`, `1w3d`; a number alone is
 * seconds. Undefined if it cannot be read.
 */
export function microsecondsOf(text: string): number | undefined {
	let rest = text.trim().toLowerCase();
	if (/^\d+(\.\d+)?$/.test(rest)) return Math.round(Number(rest) * 1e6);
	let seconds = 0;
	let read = false;
	for (let match = part.exec(rest); match; match = part.exec(rest)) {
		const [whole, number, unit] = match as unknown as [string, string, string];
		const size = units.find(([name]) => name.test(unit))?.[1];
		if (size === undefined) return undefined;
		seconds += Number(number) * size;
		rest = rest.slice(whole.length);
		read = true;
	}
	const [, hours = "0", minutes, last] = clock.exec(rest) ?? [];
	if (minutes !== undefined) {
		seconds += Number(hours) * 3600 + Number(minutes) * 60 + Number(last);
		return Math.round(seconds * 1e6);
	}
	return read && rest === "" ? Math.round(seconds * 1e6) : undefined;
}
