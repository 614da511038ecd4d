import { z } from "zod";
import { InputError } from "../../base/errors.js";
import {
	anyEvent,
	type Constraint,
	type Moment,
	recordEnd,
	recordStart,
	type Step,
	type Window,
} from "./definition.js";

/** A window as an ACES file has it. */
export const windowSchema = z.strictObject({
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
export function readWindow(file: string, name: string, definition: WindowFile) {
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
