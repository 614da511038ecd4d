import type { CodeMap } from "../codes/index.js";
import type { RecordKind } from "../records/rows.js";
import type { Store } from "../records/store.js";
import { type Mark, marksOf } from "./label-rules.js";
import type { DroppedCodes } from "./manifest.js";
import type { PrepareOptions } from "./prepare-options.js";
import { conceptsOf, type WrittenCode } from "./reading/rules.js";
import type { ValueRange } from "./vocabulary.js";

/** A code that can become a token. */
export interface Concept {
	readonly system: string;
	readonly code: string;
	readonly kind: RecordKind;
	readonly name: string;
	readonly category: string | null;
	/** The range of values that it stands for, if any. */
	readonly value?: ValueRange;
}

type SeenCode = Omit<Concept, "name" | "value"> & {
	readonly id: number;
	readonly records: number;
	readonly name: string | null;
};

const keyOf = (system: string, code: string) => `${system}\u0000${code}`;

/**
 * Numbers the codes (table `code`) and maps each to its concepts: table `mapping` (code, concept, rank, nth: the
 * position among the concepts of the code) for tokens, table `mark` (code, what) for the label rules.
 */
export async function mapCodes(store: Store, options: PrepareOptions) {
	await store.run(`
		CREATE TABLE code AS
		SELECT (row_number() OVER (ORDER BY system, code, kind) - 1)::INTEGER AS id, system, code, kind, records
		FROM (SELECT system, code, kind, count(*) AS records FROM record GROUP BY ALL)`);
	const seen = await store.all<SeenCode>(`
		WITH named AS (
			SELECT system, code, arg_min(name, rowid) AS name, arg_min(category, rowid) AS category,
				arg_min(kind, rowid) AS kind
			FROM code_name GROUP BY system, code)
		SELECT id, system, code, coalesce(named.kind, code.kind) AS kind, records,
			name, category
		FROM code LEFT JOIN named USING (system, code) ORDER BY id`);

	const list: Concept[] = [];
	const numberOf = new Map<string, number>();
	const conceptNumber = (concept: Concept): number => {
		const key = keyOf(concept.system, concept.code);
		const known = numberOf.get(key);
		if (known !== undefined) return known;
		numberOf.set(key, list.length);
		return list.push(concept) - 1;
	};
	const mapping: Record<"code" | "concept" | "rank" | "nth", number>[] = [];
	const marks: { code: number; what: Mark }[] = [];
	const unmapped: SeenCode[] = [];
	let mapped = 0;
	let extra = 0;
	let drugs = 0;
	for (const written of seen) {
		const { id, records } = written;
		const { outcome, phecodes, concepts, rank, ...normal } = conceptsOf(written, options);
		const code = { ...written, code: normal.code };
		for (const what of marksOf(code, phecodes)) marks.push({ code: id, what });
		if (outcome === "a drug without a token") drugs += records;
		if (outcome === "mapped") mapped += records;
		if (outcome === "not in the map") unmapped.push(code);
		extra += records * Math.max(0, concepts.length - 1);
		for (const [nth, concept] of concepts.entries()) {
			const known = outcome === "mapped" ? { ...concept, kind: "diagnosis" as const } : code;
			mapping.push({ code: id, concept: conceptNumber(named(known, options.map)), rank, nth });
		}
	}
	await store.create("mapping", "code INTEGER, concept INTEGER, rank INTEGER, nth INTEGER");
	await store.append("mapping", mapping);
	await store.create("mark", "code INTEGER, what VARCHAR");
	await store.append("mark", marks);
	const usesMap = options.codes === "phecode";
	return {
		list: list as readonly Concept[],
		/** Drug records that did not become tokens. */
		drugs,
		codes: {
			map: usesMap ? options.map.source : null,
			level: usesMap ? options.map.level : null,
			mapped,
			unmapped: summaryOf(unmapped, unmapped.length),
			keptUnmapped: options.unmapped === "keep",
			extra,
		},
	};
}

/** A concept with the name and the category of the source, or else of the map. */
function named(
	{ system, code, kind, name, category }: WrittenCode & Partial<SeenCode>,
	map: CodeMap,
): Concept {
	const known = system === "PheCode" ? map.nameOf(code) : undefined;
	return {
		system,
		code,
		kind,
		name: name ?? known?.name ?? code,
		category: category ?? known?.category ?? null,
	};
}

/** Counts codes and records and lists the most frequent codes. A code may have several rows. */
export function summaryOf(
	rows: readonly { readonly code: string; readonly system: string; readonly records: number }[],
	mostListed = 100,
): DroppedCodes {
	const codes = new Map<string, DroppedCodes["top"][number]>();
	for (const { system, code, records } of rows) {
		const key = keyOf(system, code);
		codes.set(key, { code, system, events: (codes.get(key)?.events ?? 0) + records });
	}
	const sorted = [...codes.values()].sort(
		(a, b) => b.events - a.events || compare(a.system, b.system) || compare(a.code, b.code),
	);
	return {
		codes: codes.size,
		events: rows.reduce((sum, { records }) => sum + records, 0),
		top: sorted.slice(0, mostListed),
	};
}

/** Compares by code unit, so the order does not depend on the locale. */
export function compare(a: string, b: string): number {
	return a < b ? -1 : a > b ? 1 : 0;
}
