import { InputError } from "../../base/errors.js";
import type { CodeTest } from "../cohort/label-definition.js";
import { named, quoted } from "../records/sql.js";
import type { Store } from "../records/store.js";
import {
	anyEvent,
	type Moment,
	type PlainPredicate,
	recordEnd,
	recordStart,
	type Step,
	specialPredicates,
	type Task,
	type Window,
} from "./definition.js";
import type { TaskRecords } from "./records.js";

/** How many were excluded, where and why. */
export interface Exclusion {
	/** A window, or a step of another kind. */
	readonly at: string;
	readonly reason: string;
	readonly count: number;
}

/** What is said of labels, which are in table `task_label` (subject, moment, value); value is NULL for a task without a label. */
export interface Extracted {
	/** Subjects with records. */
	readonly subjects: number;
	/** Trigger events, or entries into a target cohort. */
	readonly triggers: number;
	readonly excluded: readonly Exclusion[];
	readonly notes: readonly string[];
}

/** The labels of a task for all subjects. Refuses a task whose labels would lie in the input. */
export async function extract(store: Store, records: TaskRecords, task: Task): Promise<Extracted> {
	const { index, label, demographics } = task;
	if (!index)
		throw new InputError(
			`task ${task.name} has no index_timestamp, so its labels have no time of prediction; give it to one window, as in index_timestamp: end`,
		);
	const column = columnsOf(task);
	await countEvents(store, records, task);
	const triggers = "event SEMI JOIN eligible USING (subject)";
	const atWindows = await realize(store, task, triggers);
	const overlap = label
		? `m${label.window.start} ${label.window.startInclusive ? "<=" : "<"} m${index.moment}`
		: "false";
	const overlapping = await store.count(`realized WHERE ${overlap}`);
	if (label && overlapping > 0)
		throw new InputError(
			`the target ${label.window.name} ${label.window.bounds} of task ${task.name} begins before the prediction time (${task.moments[index.moment]?.name}) of ${overlapping} of ${await store.count("realized")} labels: they would be part of the input; let the target start later`,
		);
	const lacking: Exclusion[] = [];
	let eligible = "true";
	for (const name of demographics) {
		const count = await store.count(`static WHERE ${eligible} AND ${column(name)} = 0`);
		if (count > 0)
			lacking.push({ at: "patient_demographics", reason: `patients who are not ${name}`, count });
		eligible = `${eligible} AND ${column(name)} > 0`;
	}
	await store.run(`
		CREATE OR REPLACE TABLE task_label AS
		SELECT subject, CAST(m${index.moment} AS BIGINT) AS moment, label > 0 AS value
		FROM realized ORDER BY subject, m0`);
	return {
		subjects: await store.count("static"),
		triggers: await store.count(`${triggers} WHERE ${column(task.trigger)} > 0`),
		excluded: [...lacking, ...atWindows],
		notes: await checkSeen(store, records, task),
	};
}

/** The columns of tables, by predicate: `p0` says how often it holds at an event. */
function columnsOf({ predicates }: Pick<Task, "predicates">): (predicate: string) => string {
	const names = [...predicates.keys(), ...specialPredicates];
	return (predicate) => `p${names.indexOf(predicate)}`;
}

/** The number of times that a predicate held by an event, this event included. */
const sumOf = (column: string) => `sum_${column}`;

/** SQL for table `event` (subject, moment, p0, p1 …, sum_p0 …), given one with the plain predicates of a task. */
export function eventSql(task: Task, plain: string): string {
	const column = columnsOf(task);
	let sql = plain;
	// In a query of its own each: as aliases of one query, DuckDB would write predicates of predicates out.
	for (const [name, predicate] of task.predicates)
		if (predicate.kind !== "plain") {
			const holds = predicate.of.map((part) => `${column(part)} > 0`).join(` ${predicate.kind} `);
			sql = `SELECT *, (${holds})::INTEGER AS ${column(name)} FROM (${sql})`;
		}
	const counted = task.windows.flatMap((window) => countedIn(task, window));
	const sums = [...new Set(counted.map(column))].map(
		(name) => `CAST(sum(${name}) OVER past AS DOUBLE) AS ${sumOf(name)}`,
	);
	return `
		SELECT ${["*", ...sums].join(", ")} FROM (
			SELECT *, 1 AS ${column(anyEvent)},
				(lag(moment) OVER past IS NULL)::INTEGER AS ${column(recordStart)},
				(lead(moment) OVER past IS NULL)::INTEGER AS ${column(recordEnd)}
			FROM (${sql}) WINDOW past AS (PARTITION BY subject ORDER BY moment))
		WINDOW past AS (PARTITION BY subject ORDER BY moment)`;
}

/** The predicates that are counted in a window. */
const countedIn = ({ label }: Task, window: Window): string[] => [
	...window.has.map(({ predicate }) => predicate),
	...(label?.window === window ? [label.predicate] : []),
];

/**
 * Creates table `realized` of the events of `triggers` at which the trigger holds and no window leaves them out: m0, m1
 * …, the times of `Task.moments`, and `label`, how often the label's predicate holds in its window. Returns what was
 * left out. Reads table `event`.
 */
export async function realize(store: Store, task: Task, triggers = "event") {
	const column = columnsOf(task);
	await store.run(`
		CREATE OR REPLACE TABLE realized AS
		SELECT subject, moment AS m0, CAST(NULL AS DOUBLE) AS label FROM ${triggers}
		WHERE ${column(task.trigger)} > 0`);
	const excluded: Exclusion[] = [];
	for (const window of task.windows) {
		const { start, end, startInclusive, endInclusive } = window;
		const checks: { readonly reason: string; readonly fails: string }[] = [];
		let sql = "FROM realized";
		for (const at of [Math.min(start, end), Math.max(start, end)]) {
			const { from, step } = task.moments[at] as Moment;
			if ("by" in step) {
				sql = `SELECT *, m${from} + ${step.by} AS m${at} FROM (${sql})`;
				continue;
			}
			const order = `${step.to === "next" ? "<" : ">"}${step.inclusive ? "=" : ""}`;
			sql = `
				SELECT reached.*, bound.moment AS m${at} FROM (${sql}) AS reached
				ASOF LEFT JOIN (SELECT subject, moment FROM event WHERE ${column(step.predicate)} > 0) AS bound
					ON bound.subject = reached.subject AND reached.m${from} ${order} bound.moment`;
			checks.push({ reason: stepText(step), fails: `m${at} IS NULL` });
		}
		const counted = [...new Set(countedIn(task, window))];
		if (counted.length > 0)
			sql = `
				SELECT reached.*, ${counted.map((name) => countSql(column(name))).join(", ")}
				FROM (${sql}) AS reached
				ASOF LEFT JOIN event AS before ON before.subject = reached.subject
					AND reached.m${start} ${startInclusive ? ">" : ">="} before.moment
				ASOF LEFT JOIN event AS until ON until.subject = reached.subject
					AND reached.m${end} ${endInclusive ? ">=" : ">"} until.moment`;
		for (const { predicate, min, max } of window.has) {
			const count = column(predicate);
			if (min !== null)
				checks.push({ reason: `fewer than ${min} of ${predicate}`, fails: `${count} < ${min}` });
			if (max !== null)
				checks.push({ reason: `more than ${max} of ${predicate}`, fails: `${count} > ${max}` });
		}
		const cases = checks.map(({ reason, fails }) => `WHEN ${fails} THEN ${quoted(reason)}`);
		await store.run(`
			CREATE OR REPLACE TABLE checked AS
			SELECT *, CASE ${["WHEN false THEN ''", ...cases].join(" ")} END AS failed FROM (${sql})`);
		for (const reason of new Set(checks.map((check) => check.reason))) {
			const count = await store.count(`checked WHERE failed = ${quoted(reason)}`);
			excluded.push({ at: window.name, reason, count });
		}
		const isLabelled = task.label?.window === window;
		await store.run(`
			CREATE OR REPLACE TABLE realized AS
			SELECT * EXCLUDE (${["failed", ...counted.map(column)].join(", ")})
				${isLabelled ? `REPLACE (${column(task.label.predicate)} AS label)` : ""}
			FROM checked WHERE failed IS NULL`);
	}
	return excluded.filter(({ count }) => count > 0);
}

/** SQL for how often a predicate holds in a window. */
const countSql = (column: string) =>
	`greatest(0, coalesce(until.${sumOf(column)}, 0) - coalesce(before.${sumOf(column)}, 0)) AS ${column}`;

/** Why a window has no bound. */
export function stepText(step: Step): string {
	if ("by" in step) return "";
	if (step.predicate === recordStart) return "starts before the record";
	if (step.predicate === recordEnd) return "starts after the record";
	return `no ${step.predicate} ${step.to === "next" ? "after" : "before"} it`;
}

/** Refuses a task that needs records of which there are none; notes other predicates without a record. */
async function checkSeen(store: Store, { path }: TaskRecords, task: Task): Promise<string[]> {
	const column = columnsOf(task);
	const none: string[] = [];
	for (const name of task.predicates.keys())
		if ((await store.count(`event WHERE ${column(name)} > 0`)) === 0) none.push(name);
	const uses = new Map([[task.trigger, "the trigger"]]);
	for (const { step } of task.moments)
		if ("to" in step) uses.set(step.predicate, "the bound of a window");
	if (task.label) uses.set(task.label.predicate, "the label");
	const missing = none.find((name) => uses.has(name));
	if (missing !== undefined)
		throw new InputError(
			`${path} has no record of ${missing}, ${uses.get(missing)} of task ${task.name} (${predicateText(task, missing)}); check how its codes are written, and define ${missing} for them in a file passed with \`predicates\`${task.description ? `; the task says: ${task.description}` : ""}`,
		);
	const used = none.filter((name) => !task.demographics.includes(name));
	return used.length > 0 ? [`no record of ${used.join(", ")} in ${path}`] : [];
}

/** A predicate in words, for messages. */
function predicateText({ predicates }: Task, name: string): string {
	const predicate = predicates.get(name);
	if (!predicate) return name;
	if (predicate.kind !== "plain") return `${predicate.kind}(${predicate.of.join(", ")})`;
	const { code } = predicate;
	if ("equals" in code) return `code ${code.equals}`;
	if ("regex" in code)
		return `codes that match ${code.regex.slice(0, 60)}${code.regex.length > 60 ? "…" : ""}`;
	return `codes ${code.any.slice(0, 5).join(", ")}${code.any.length > 5 ? " …" : ""}`;
}

const codeSql = (test: CodeTest): string =>
	"equals" in test
		? `code = ${quoted(test.equals)}`
		: "any" in test
			? `code IN (${test.any.map(quoted).join(", ")})`
			: `regexp_matches(code, ${quoted(test.regex)})`;

/** SQL for the further conditions of a predicate, on a record of the right code. */
function recordSql({ min, max, columns }: Pick<PlainPredicate, "min" | "max" | "columns">): string {
	return [
		"true",
		...(min ? [`value ${min.inclusive ? ">=" : ">"} CAST(${min.value} AS FLOAT)`] : []),
		...(max ? [`value ${max.inclusive ? "<=" : "<"} CAST(${max.value} AS FLOAT)`] : []),
		...Object.entries(columns).map(
			([column, text]) => `${named(`column ${column}`)} = ${quoted(text)}`,
		),
	].join(" AND ");
}

/**
 * Creates table `event` (see `eventSql`); table `static` of all subjects with the counts of their records without a
 * time, and table `eligible` of those that have what `demographics` ask for.
 */
async function countEvents(store: Store, records: TaskRecords, task: Task): Promise<void> {
	const column = columnsOf(task);
	const plain = [...task.predicates].flatMap(([name, predicate]) =>
		predicate.kind === "plain" ? [{ ...predicate, name }] : [],
	);
	const valued = plain.find(({ min, max }) => min ?? max);
	if (valued && !records.hasValues)
		throw new InputError(
			`predicate ${valued.name} of task ${task.name} is about values, and the dataset ${records.path} has at most ranges of them; name a folder in MEDS instead`,
		);
	for (const { name, code } of plain)
		if ("regex" in code) await checkRegex(store, task, name, code);
	await records.view(store, [...new Set(plain.flatMap(({ columns }) => Object.keys(columns)))]);
	const matches = plain.map(({ name, code }) => `, ${codeSql(code)} AS is_${column(name)}`);
	const counts = plain.map(
		({ name, ...predicate }) =>
			`, CAST(count(*) FILTER (is_${column(name)} AND ${recordSql(predicate)}) AS INTEGER) AS ${column(name)}`,
	);
	try {
		await store.run(`
			CREATE OR REPLACE TABLE code_match AS
			SELECT code ${matches.join("")} FROM (SELECT DISTINCT code FROM item)`);
		await store.run(`
			CREATE OR REPLACE TABLE counted AS
			SELECT subject, CAST(moment AS DOUBLE) AS moment ${counts.join("")}
			FROM item JOIN code_match USING (code) GROUP BY ALL`);
	} catch (error) {
		throw await records.explain(error);
	}
	const ofSubject = plain.map(
		({ name }) => `, coalesce(max(${column(name)}) FILTER (moment IS NULL), 0) AS ${column(name)}`,
	);
	await store.run(`
		CREATE OR REPLACE TABLE static AS
		SELECT subject ${ofSubject.join("")} FROM counted GROUP BY subject`);
	const needs = ["true", ...task.demographics.map((name) => `${column(name)} > 0`)];
	await store.run(`
		CREATE OR REPLACE TABLE eligible AS SELECT subject FROM static WHERE ${needs.join(" AND ")}`);
	const atEvents = plain.map(
		({ name, isStatic }) => `, ${isStatic ? "static" : "counted"}.${column(name)}`,
	);
	await store.run(
		`CREATE OR REPLACE TABLE event AS ${eventSql(
			task,
			`SELECT subject, moment ${atEvents.join("")} FROM counted JOIN static USING (subject)
		WHERE moment IS NOT NULL`,
		)}`,
	);
}

async function checkRegex(
	store: Store,
	task: Task,
	name: string,
	code: Extract<CodeTest, { regex: string }>,
): Promise<void> {
	try {
		await store.run(`SELECT regexp_matches('', ${quoted(code.regex)})`);
	} catch (error) {
		throw new InputError(
			`predicate ${name} of task ${task.name} has the regex ${code.regex}, which is not valid (${(error as Error).message.split("\n")[0]}); expected the syntax of RE2, which has no look-around`,
			{ cause: error },
		);
	}
}
