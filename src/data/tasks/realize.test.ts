import { tmpdir } from "node:os";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openStore, type Store } from "../records/store.js";
import type { Task } from "./definition.js";
import { eventSql, realize } from "./extract.js";
import { parseAces } from "./read-aces.js";
import { microseconds, sampleData } from "./testing/aces-sample.js";
import { type PlainEvent, realizeSlowly } from "./testing/realize-slowly.js";

const parse = (yaml: string) => parseAces("task", { file: "task.yaml", text: yaml });

let store: Store;
beforeAll(async () => {
	store = await openStore({ folder: tmpdir(), memory: 2 ** 27, threads: 1 });
});
afterAll(() => store.close());

/** Events at times, with one letter per record. */
const eventsOf = (given: readonly (readonly [time: number, codes: string])[]): PlainEvent[] =>
	given.map(([time, codes]) => {
		const count = (letter: string) => [...codes].filter((one) => one === letter).length;
		return { time, counts: { A: count("A"), B: count("B"), C: count("C") } };
	});

/** The realizations of a task in the records of several subjects. */
async function realized(task: Task, records: readonly (readonly PlainEvent[])[]) {
	const plain = [...task.predicates].flatMap(([name, { kind }], at) =>
		kind === "plain" ? [{ name, column: `p${at}` }] : [],
	);
	const columns = plain.map(({ column }) => `, ${column} INTEGER`);
	await store.create("plain_event", `subject INTEGER, moment DOUBLE${columns.join("")}`);
	await store.append(
		"plain_event",
		records.flatMap((events, subject) =>
			events.map(({ time, counts }) => ({
				subject,
				moment: time,
				...Object.fromEntries(plain.map(({ name, column }) => [column, counts[name] ?? 0])),
			})),
		),
	);
	await store.run(`CREATE OR REPLACE TABLE event AS ${eventSql(task, "FROM plain_event")}`);
	const excluded = await realize(store, task);
	const rows = await store.all<Record<string, number | null>>(
		"SELECT * FROM realized ORDER BY subject, m0",
	);
	const realizations = rows.map((row) => ({
		subject: row.subject,
		moments: task.moments.map((_, at) => row[`m${at}`] as number),
		label: row.label as number | null,
	}));
	return { excluded, realizations };
}

/** The same by the slow form. */
function realizedSlowly(task: Task, records: readonly (readonly PlainEvent[])[]) {
	const all = records.flatMap((events, subject) =>
		realizeSlowly(task, events).map((one) => ({ subject, ...one })),
	);
	const counts = new Map<string, { at: string; reason: string; count: number }>();
	for (const one of all) {
		if (!("window" in one)) continue;
		const { window: at, reason } = one;
		const key = `${at} ${reason}`;
		counts.set(key, { at, reason, count: 1 + (counts.get(key)?.count ?? 0) });
	}
	return {
		excluded: [...counts.values()],
		realizations: all.filter((one) => "moments" in one),
	};
}

const sorted = <T extends { excluded: readonly { at: string; reason: string }[] }>(result: T) => ({
	...result,
	excluded: result.excluded.toSorted((a, b) => (a.at + a.reason < b.at + b.reason ? -1 : 1)),
});

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

test("equals the slow form", async () => {
	const records = fc.array(subjectOf, { minLength: 1, maxLength: 20 });
	await fc.assert(
		fc.asyncProperty(taskOf, records, async (task, given) => {
			const subjects = given.map(eventsOf);
			expect(sorted(await realized(task, subjects))).toEqual(
				sorted(realizedSlowly(task, subjects)),
			);
		}),
		{ numRuns: 60 },
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
		["A", "AB", "A", "AB", "AB", "A", "A"].map((codes, at) => [at, codes] as const),
	);
	const bound = task.moments.findIndex(({ name }) => name === (forward ? "w.end" : "w.start"));
	return realizeSlowly(task, events)
		.map((one) => ("window" in one ? "-" : `${one.moments[bound]}:${one.label}`))
		.join(" ");
}

test.each([
	["->", true, true, "1:2 1:1 3:2 3:1 4:1 - -"],
	["->", true, false, "1:1 3:2 3:1 4:1 - - -"],
	["->", false, true, "1:1 1:0 3:1 3:0 4:0 - -"],
	["->", false, false, "1:0 3:1 3:0 4:0 - - -"],
	["<-", true, true, "- 1:1 1:2 3:1 4:1 4:2 4:3"],
	["<-", true, false, "- 1:0 1:1 3:0 4:0 4:1 4:2"],
	["<-", false, true, "- - 1:1 1:2 3:1 4:1 4:2"],
	["<-", false, false, "- - 1:0 1:1 3:0 4:0 4:1"],
] as const)(
	"an event at the reference of %s is its own bound if the bound is inclusive: %s, %s",
	(direction, startInclusive, endInclusive, bounds) => {
		expect(reached(direction, startInclusive, endInclusive)).toBe(bounds);
	},
);

test("gives the windows that ACES documents for its sample data", async () => {
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
	const events = parts.map(([, time, recorded]): PlainEvent => {
		const holds = (code: string) => Number(recorded?.split(" ").includes(code));
		const codes = ["admission", "discharge", "death"];
		const counts = Object.fromEntries(codes.map((code) => [code, holds(code)]));
		return { time: microseconds(time as string), counts };
	});
	const { excluded, realizations } = await realized(task, [events]);
	expect(excluded).toEqual([
		{ at: "gap", reason: "more than 0 of discharge", count: 1 },
		{ at: "gap", reason: "more than 0 of death", count: 1 },
	]);
	expect(realizations).toHaveLength(1);
	const times = task.moments.map(({ name }, at) => [
		name,
		new Date((realizations[0]?.moments[at] as number) / 1000)
			.toISOString()
			.slice(0, 16)
			.replace("T", " "),
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
