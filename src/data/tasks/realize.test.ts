import fc from "fast-check";
import { expect, test } from "vitest";
import type { Task } from "./definition.js";
import { parseAces } from "./read-aces.js";
import { type Realization, realize, withDerived } from "./realize.js";
import { microseconds, sampleData } from "./testing/aces-sample.js";
import { realizeSlowly } from "./testing/realize-slowly.js";

const parse = (yaml: string) => parseAces("task", { file: "task.yaml", text: yaml });

/** Events of one subject with predicates A, B and C. */
function eventsOf(task: Task, given: readonly (readonly [time: number, codes: string])[]) {
	const count = (letter: string) =>
		given.map(([, codes]) => [...codes].filter((one) => one === letter).length);
	return withDerived(
		task.predicates,
		given.map(([time]) => time),
		new Map(["A", "B", "C"].map((letter) => [letter, count(letter)])),
		new Map(),
	);
}

const predicates =
	"predicates: {A: {code: A}, B: {code: B}, C: {code: C}, AB: {expr: 'and(A, B)'}}";

/** A window from a template; it refers to the trigger or to a window before it. */
const windowOf = fc.record({
	anchor: fc.nat(),
	side: fc.constantFrom("start", "end"),
	shift: fc.constantFrom("", " + 2s", " - 1s", " -> A", " <- B", " -> _ANY_EVENT"),
	reach: fc.constantFrom("null", "time", "A", "B", "AB", "_RECORD_END", "_RECORD_START"),
	seconds: fc.integer({ min: 0, max: 6 }),
	startInclusive: fc.boolean(),
	endInclusive: fc.boolean(),
	has: fc.option(fc.constantFrom("A: '(1, None)'", "C: '(None, 1)'", "_ANY_EVENT: '(1, 4)'")),
});

const taskOf = fc
	.record({
		trigger: fc.constantFrom("A", "AB", "_ANY_EVENT", "_RECORD_START"),
		windows: fc.array(windowOf, { minLength: 1, maxLength: 4 }),
	})
	.map(({ trigger, windows }) => {
		const moments = ["trigger"];
		const lines = windows.map((w, at) => {
			const outside = `${moments[w.anchor % moments.length]}${w.shift}`;
			const [sign, arrow] = w.side === "start" ? ["+", "->"] : ["-", "<-"];
			const inner =
				w.reach === "null"
					? "null"
					: w.reach === "time"
						? `${w.side} ${sign} ${w.seconds}s`
						: `${w.side} ${arrow} ${w.reach}`;
			const [start, end] = w.side === "start" ? [outside, inner] : [inner, outside];
			moments.push(`w${at}.start`, `w${at}.end`);
			const last = at === windows.length - 1 ? ", label: C, index_timestamp: end" : "";
			return `  w${at}: {start: ${start}, end: ${end}, start_inclusive: ${w.startInclusive}, end_inclusive: ${w.endInclusive}, has: {${w.has ?? ""}}${last}}`;
		});
		return parse(`${predicates}\ntrigger: ${trigger}\nwindows:\n${lines.join("\n")}`);
	});

const subjectOf = fc
	.uniqueArray(fc.integer({ min: 0, max: 15 }), { maxLength: 10 })
	.chain((seconds) =>
		fc
			.array(fc.constantFrom("", "A", "B", "C", "AB", "ABC", "AAC", "CC"), {
				minLength: seconds.length,
				maxLength: seconds.length,
			})
			.map((codes) =>
				seconds
					.sort((a, b) => a - b)
					.map((second, at) => [second * 1e6, codes[at] as string] as const),
			),
	);

test("equals the slow form", () => {
	fc.assert(
		fc.property(taskOf, subjectOf, (task, subject) => {
			const events = eventsOf(task, subject);
			expect(realize(task, events)).toEqual(realizeSlowly(task, events));
		}),
		{ numRuns: 400 },
	);
});

/** Where a window from an event to the next, or previous, B ends, and how many A are in it. */
function reached(direction: "->" | "<-", startInclusive: boolean, endInclusive: boolean) {
	const forward = direction === "->";
	const task = parse(`${predicates}
trigger: _ANY_EVENT
windows:
  w: {start: ${forward ? "trigger" : "end <- B"}, end: ${forward ? "start -> B" : "trigger"}, start_inclusive: ${startInclusive}, end_inclusive: ${endInclusive}, label: A, index_timestamp: end}`);
	// Rows 0 to 6 of the example in ACES's reference, with bounds at 1, 3 and 4; A is everywhere.
	const events = eventsOf(
		task,
		["A", "AB", "A", "AB", "AB", "A", "A"].map((codes, at) => [at, codes] as const),
	);
	const bound = task.moments.findIndex(({ name }) => name === (forward ? "w.end" : "w.start"));
	return realizeSlowly(task, events).map((one) =>
		"excluded" in one ? null : [one.moments[bound], one.label],
	);
}

test("an event at the reference is its own bound if the bound is inclusive", () => {
	expect(reached("->", true, true)).toEqual([[1, 2], [1, 1], [3, 2], [3, 1], [4, 1], null, null]);
	expect(reached("->", true, false)).toEqual([[1, 1], [3, 2], [3, 1], [4, 1], null, null, null]);
	expect(reached("->", false, true)).toEqual([[1, 1], [1, 0], [3, 1], [3, 0], [4, 0], null, null]);
	expect(reached("->", false, false)).toEqual([[1, 0], [3, 1], [3, 0], [4, 0], null, null, null]);
	expect(reached("<-", true, true)).toEqual([null, [1, 1], [1, 2], [3, 1], [4, 1], [4, 2], [4, 3]]);
	expect(reached("<-", true, false)).toEqual([
		null,
		[1, 0],
		[1, 1],
		[3, 0],
		[4, 0],
		[4, 1],
		[4, 2],
	]);
	expect(reached("<-", false, true)).toEqual([null, null, [1, 1], [1, 2], [3, 1], [4, 1], [4, 2]]);
	expect(reached("<-", false, false)).toEqual([null, null, [1, 0], [1, 1], [3, 0], [4, 0], [4, 1]]);
});

test("gives the windows that ACES documents for its sample data", () => {
	const task = parse(`
predicates:
  admission: {code: admission}
  discharge: {code: discharge}
  death: {code: death}
  discharge_or_death: {expr: "or(discharge, death)"}
trigger: admission
windows:
  input: {start: NULL, end: trigger + 24h, start_inclusive: True, end_inclusive: True, has: {_ANY_EVENT: "(5, None)"}, index_timestamp: end}
  gap: {start: trigger, end: start + 48h, start_inclusive: False, end_inclusive: True, has: {admission: "(None, 0)", discharge: "(None, 0)", death: "(None, 0)"}}
  target: {start: gap.end, end: start -> discharge_or_death, start_inclusive: False, end_inclusive: True, label: death}`);
	const lines = (sampleData[1] as string).trim().split("\n").slice(1);
	const parts = lines.map((line) => /^\s*(.*?): (.*)$/.exec(line) as unknown as string[]);
	const events = withDerived(
		task.predicates,
		parts.map(([, time]) => microseconds(time as string)),
		new Map(
			["admission", "discharge", "death"].map((code) => [
				code,
				parts.map(([, , codes]) => Number(codes?.split(" ").includes(code))),
			]),
		),
		new Map(),
	);
	const [first, second, third] = realize(task, events) as [Realization, Realization, Realization];
	expect(first).toMatchObject({ excluded: { window: "gap", reason: "more than 0 of discharge" } });
	expect(third).toMatchObject({ excluded: { window: "gap", reason: "more than 0 of death" } });
	const moments = "moments" in second ? second.moments : [];
	const times = task.moments.map(({ name }, at) => [
		name,
		new Date((moments[at] as number) / 1000).toISOString().slice(0, 16).replace("T", " "),
	]);
	expect(Object.fromEntries(times)).toEqual({
		trigger: "1991-01-27 23:32",
		"input.start": "1989-12-01 12:03",
		"input.end": "1991-01-28 23:32",
		"gap.start": "1991-01-27 23:32",
		"gap.end": "1991-01-29 23:32",
		"target.start": "1991-01-29 23:32",
		"target.end": "1991-01-31 02:15",
	});
});
