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

/** A bound of a window as it is written: a reference and a step from it. */
interface Bound {
	readonly reference: string;
	readonly step: Step;
}

type Side = "start" | "end";

/** Reads one window, whose bounds are relative to each other and to one moment outside. */
export class WindowReader {
	/** The bound that refers to a moment outside; the other refers to it. */
	readonly #anchor: Side;
	readonly #bounds: Readonly<Record<Side, Bound>>;
	readonly has: readonly Constraint[];

	constructor(
		readonly file: string,
		readonly name: string,
		readonly definition: WindowFile,
	) {
		// Bounds that refer to a moment outside never take an event at that very moment.
		const start = this.#bound("start", definition.start);
		const end = this.#bound("end", definition.end);
		if (definition.start == null && definition.end == null)
			this.#refuse("has neither start nor end; expected one that refers to the trigger");
		if ((start.reference === "end") === (end.reference === "start"))
			this.#refuse(
				`goes ${this.bounds}; expected one bound that refers to the other (start, end) and one that refers to the trigger or to another window`,
			);
		this.#anchor = start.reference === "end" ? "end" : "start";
		const inner = this.#anchor === "end" ? start.step : end.step;
		const isBackwards = "by" in inner ? inner.by < 0 : inner.to === "previous";
		const isForwards = "by" in inner ? inner.by > 0 : inner.to === "next";
		if (this.#anchor === "end" ? isForwards : isBackwards)
			this.#refuse(`goes ${this.bounds}; expected a start that is not after the end`);
		this.#bounds = { start, end };
		this.has = Object.entries(definition.has ?? {}).map(([predicate, text]) =>
			this.#constraint(predicate, text),
		);
	}

	#refuse(text: string): never {
		throw new InputError(`${this.file}: window ${this.name} ${text}`);
	}

	get bounds(): string {
		return boundsText(this.definition);
	}

	/** The moment outside that this window refers to. */
	get outside(): string {
		return this.#bounds[this.#anchor].reference;
	}

	get predicates(): string[] {
		const steps = [this.#bounds.start.step, this.#bounds.end.step];
		return [
			...steps.flatMap((step) => ("to" in step ? [step.predicate] : [])),
			...this.has.map(({ predicate }) => predicate),
			...(this.definition.label ? [this.definition.label] : []),
		];
	}

	moments(outside: number, first: number): Moment[] {
		const other: Side = this.#anchor === "start" ? "end" : "start";
		return [
			{ name: this.#named(this.#anchor), from: outside, step: this.#bounds[this.#anchor].step },
			{ name: this.#named(other), from: first, step: this.#bounds[other].step },
		];
	}

	window(positions: ReadonlyMap<string, number>): Window {
		return {
			name: this.name,
			start: positions.get(this.#named("start")) as number,
			end: positions.get(this.#named("end")) as number,
			startInclusive: this.definition.start_inclusive,
			endInclusive: this.definition.end_inclusive,
			has: this.has,
			bounds: this.bounds,
		};
	}

	#named(side: Side): string {
		return `${this.name}.${side}`;
	}

	#bound(side: Side, text: string | null | undefined): Bound {
		const inclusive =
			side === "start" ? this.definition.start_inclusive : this.definition.end_inclusive;
		if (text == null)
			return side === "start"
				? { reference: "end", step: { to: "previous", predicate: recordStart, inclusive } }
				: { reference: "start", step: { to: "next", predicate: recordEnd, inclusive } };
		const [, reference = "", sign, rest = ""] =
			/^\s*([\w.]+)\s*(?:(->|<-|\+|-)\s*(.+?)\s*)?$/s.exec(text) ?? [];
		if (!/^(\w+\.(start|end)|trigger|start|end)$/.test(reference))
			this.#refuse(
				`has ${side} "${text}"; expected a moment and a step, such as trigger + 24h, input.end, start -> discharge, end <- admission, or null`,
			);
		const isInner = reference === "start" || reference === "end";
		if (reference === side) this.#refuse(`has a ${side} that refers to itself`);
		if (sign === undefined) return { reference, step: { by: 0 } };
		if (sign === "->" || sign === "<-")
			return {
				reference,
				step: {
					to: sign === "->" ? "next" : "previous",
					predicate: rest,
					inclusive: isInner && inclusive,
				},
			};
		const by = microsecondsOf(rest);
		if (by === undefined)
			this.#refuse(
				`has ${side} "${text}"; expected a time such as 24h, 30 minutes, 365 days; months and years have no fixed length`,
			);
		return { reference, step: { by: sign === "+" ? by : -by } };
	}

	#constraint(predicate: string, text: string): Constraint {
		const [, min, max] = /^\(\s*(\d+|None|)\s*,\s*(\d+|None|)\s*\)$/.exec(text.trim()) ?? [];
		const number = (part: string | undefined) => (part && part !== "None" ? Number(part) : null);
		const [least, most] = [number(min), number(max)];
		if (min === undefined || (least === null && most === null) || (least ?? 0) > (most ?? least!))
			this.#refuse(
				`has ${predicate}: ${text}; expected how often it may occur, such as (1, None), (None, 0) or (2, 5)`,
			);
		return { predicate: predicate === "*" ? anyEvent : predicate, min: least, max: most };
	}
}

/** The bounds of a window as written: `[start of record, trigger + 24h]`. */
function boundsText(definition: WindowFile): string {
	const [open, close] = [
		definition.start_inclusive ? "[" : "(",
		definition.end_inclusive ? "]" : ")",
	];
	return `${open}${definition.start ?? "start of record"}, ${definition.end ?? "end of record"}${close}`;
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
