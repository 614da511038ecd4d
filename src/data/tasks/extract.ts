import { InputError } from "../../base/errors.js";
import type { CodeTest } from "../cohort/label-definition.js";
import { named, quoted } from "../records/sql.js";
import type { Store } from "../records/store.js";
import { overlaps, type PlainPredicate, type Task } from "./definition.js";
import { plainPredicates, realize, type SubjectEvents, withDerived } from "./realize.js";
import type { TaskRecords } from "./records.js";

/** Labels in columns, by subject and time. */
export interface Labels {
	readonly subjects: string[];
	/** The prediction times in microseconds since 1970-01-01. */
	readonly times: number[];
	/** null for a task without a label. */
	readonly values: (boolean | null)[];
}

/** How many were excluded, where and why. */
export interface Exclusion {
	/** A window, or a step of another kind. */
	readonly at: string;
	readonly reason: string;
	readonly count: number;
}

export interface Extracted {
	readonly labels: Labels;
	/** Subjects with records. */
	readonly subjects: number;
	/** Trigger events, or entries into a target cohort. */
	readonly triggers: number;
	readonly excluded: readonly Exclusion[];
	readonly notes: readonly string[];
}

/** The labels of a task for all subjects. Refuses a task whose labels would lie in the input. */
export async function extract(store: Store, records: TaskRecords, task: Task): Promise<Extracted> {
	const { index, label } = task;
	if (!index)
		throw new InputError(
			`task ${task.name} has no index_timestamp, so its labels have no time of prediction; give it to one window, as in index_timestamp: end`,
		);
	const labels: Labels = { subjects: [], times: [], values: [] };
	const excluded = new Map<string, Exclusion>();
	const exclude = (at: string, reason: string) => {
		const key = `${at}\n${reason}`;
		excluded.set(key, { at, reason, count: (excluded.get(key)?.count ?? 0) + 1 });
	};
	const seen = new Map([...task.predicates.keys()].map((name) => [name, 0]));
	let [subjects, triggers, overlapping] = [0, 0, 0];
	for await (const { subject, events, statics } of subjectsOf(store, records, task)) {
		subjects++;
		for (const name of seen.keys()) seen.set(name, (seen.get(name) ?? 0) + sumOf(events, name));
		const lacking = task.demographics.find((name) => !statics.get(name));
		if (lacking !== undefined) {
			exclude("patient_demographics", `patients who are not ${lacking}`);
			continue;
		}
		for (const one of realize(task, events)) {
			triggers++;
			if ("excluded" in one) {
				exclude(one.excluded.window, one.excluded.reason);
				continue;
			}
			const time = one.moments[index.moment] as number;
			if (label && overlaps(label.window, one.moments, time)) overlapping++;
			labels.subjects.push(subject);
			labels.times.push(time);
			labels.values.push(one.label === undefined ? null : one.label > 0);
		}
	}
	if (overlapping > 0 && label)
		throw new InputError(
			`the target ${label.window.name} ${label.window.bounds} of task ${task.name} begins before the prediction time (${task.moments[index.moment]?.name}) of ${overlapping} of ${labels.times.length} labels: they would be part of the input; let the target start later`,
		);
	return {
		labels,
		subjects,
		triggers,
		excluded: [...excluded.values()].sort((a, b) => stepOf(task, a.at) - stepOf(task, b.at)),
		notes: checkSeen(records, task, seen),
	};
}

/** The order in which the steps of a task exclude: demographics, then windows. */
const stepOf = ({ windows }: Task, at: string) => windows.findIndex(({ name }) => name === at);

const sumOf = ({ counts }: SubjectEvents, name: string) => {
	let sum = 0;
	const predicateCounts = counts.get(name) ?? [];
	for (let at = 0; at < predicateCounts.length; at++) sum += predicateCounts[at] as number;
	return sum;
};

/** Refuses a task that needs records of which there are none; notes other predicates without a record. */
function checkSeen({ path }: TaskRecords, task: Task, seen: ReadonlyMap<string, number>): string[] {
	const none = [...seen].flatMap(([name, count]) => (count === 0 ? [name] : []));
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
function recordSql({ min, max, columns }: PlainPredicate): string {
	return [
		"true",
		...(min ? [`value ${min.inclusive ? ">=" : ">"} CAST(${min.value} AS FLOAT)`] : []),
		...(max ? [`value ${max.inclusive ? "<=" : "<"} CAST(${max.value} AS FLOAT)`] : []),
		...Object.entries(columns).map(
			([column, text]) => `${named(`column ${column}`)} = ${quoted(text)}`,
		),
	].join(" AND ");
}

/** The events of each subject with the counts of all predicates, one subject after another. */
async function* subjectsOf(store: Store, records: TaskRecords, task: Task) {
	const plain = plainPredicates(task);
	const valued = plain.find(({ predicate: { min, max } }) => min ?? max);
	if (valued && !records.hasValues)
		throw new InputError(
			`predicate ${valued.name} of task ${task.name} is about values, and the dataset ${records.path} has at most ranges of them; name a folder in MEDS instead`,
		);
	const columns = new Set(plain.flatMap(({ predicate }) => Object.keys(predicate.columns)));
	await records.view(store, [...columns]);
	await matchCodes(store, records, task);
	const counted = plain.map(
		({ predicate }, at) =>
			`, CAST(count(*) FILTER (match${at} AND ${recordSql(predicate)}) AS INTEGER)`,
	);
	const sql = `
		SELECT subject, CAST(moment AS DOUBLE)${counted.join("")} FROM item JOIN code_match USING (code)
		GROUP BY subject, moment ORDER BY subject, moment NULLS FIRST`;

	let subject: string | undefined;
	let times: number[] = [];
	let counts: number[][] = [];
	let statics = new Map<string, number>();
	const finished = () => ({
		subject: subject as string,
		statics,
		events: withDerived(
			task.predicates,
			times,
			new Map(plain.map(({ name }, at) => [name, counts[at] as number[]])),
			statics,
		),
	});
	try {
		for await (const chunk of store.stream(sql)) {
			const [ids, ats, ...numbers] = chunk.columns as [string[], (number | null)[], ...number[][]];
			for (let row = 0; row < chunk.rows; row++) {
				if (ids[row] !== subject) {
					if (subject !== undefined) yield finished();
					subject = ids[row];
					times = [];
					counts = plain.map(() => []);
					statics = new Map();
				}
				const at = ats[row];
				for (const [n, { name }] of plain.entries()) {
					const count = numbers[n]?.[row] as number;
					if (at == null) statics.set(name, count);
					else counts[n]?.push(count);
				}
				if (at != null) times.push(at);
			}
		}
	} catch (error) {
		throw await records.explain(error);
	}
	if (subject !== undefined) yield finished();
}

/** Creates table `code_match` (code, match0, match1 …): which predicates the distinct codes satisfy. */
async function matchCodes(store: Store, records: TaskRecords, task: Task): Promise<void> {
	const plain = plainPredicates(task);
	await store
		.run("CREATE OR REPLACE TABLE code_match AS SELECT DISTINCT code FROM item")
		.catch(async (error) => {
			throw await records.explain(error);
		});
	for (const [at, { name, predicate }] of plain.entries()) {
		await store.run(`ALTER TABLE code_match ADD COLUMN match${at} BOOLEAN`);
		try {
			await store.run(`UPDATE code_match SET match${at} = ${codeSql(predicate.code)}`);
		} catch (error) {
			if (!("regex" in predicate.code)) throw error;
			throw new InputError(
				`predicate ${name} of task ${task.name} has the regex ${predicate.code.regex}, which is not valid (${(error as Error).message.split("\n")[0]}); expected the syntax of RE2, which has no look-around`,
				{ cause: error },
			);
		}
	}
}
