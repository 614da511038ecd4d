import type { TimeAxis } from "../../base/time.js";
import type { CodeMap } from "../../codes/map.js";
import { integerPheCode, normalisePheCode } from "../../codes/map.js";
import type { RecordKind, Sex } from "../../records/rows.js";
import { kindOf } from "../../records/systems.js";
import { type History, historyOf } from "../history.js";
import type { Vocabulary } from "../vocabulary.js";
import { meaningOf } from "./meaning.js";
import type { KnownPerson } from "./people.js";
import { periodsOf } from "./periods.js";
import { codeRules, type ReadingRules } from "./rules.js";

/** A record as its source has it. */
export interface GivenRecord {
	readonly day: number;
	readonly code: string;
	/** Null where the source does not say: any whose codes look like this. */
	readonly system: string | null;
	/** What the system tells, if left out. */
	readonly kind?: RecordKind | undefined;
}

export interface NewPatient {
	readonly id: string;
	readonly sex: Sex | null;
	/** In time units on the axis of the events, as is death; null if nobody knows. */
	readonly birth: number | null;
	readonly death: number | null;
	/** When the last record was, of a known code or not, or the death that is an event; null if none is. */
	readonly lastRecord: number | null;
	/** Empty, but for the birth, when no event is of a known code. */
	readonly history: History;
}

/** A code that is no token, or not in the map. */
export interface UnknownCode {
	/** Of the record, among those given. */
	readonly place: number;
	/** What it stands for. */
	readonly code: string;
	readonly system: string | null;
	/** Whether the record stands for nothing that is known. */
	readonly alone: boolean;
}

export interface ReadEvent {
	readonly token: number;
	readonly day: number;
	/** Of its record, among those given. */
	readonly place: number;
}

/** What was seen in the latest day or month, where a repetition within it does not count. */
export interface Latest {
	readonly period: number;
	readonly seen: ReadonlySet<number>;
}

export interface ReadRecords {
	/** By time; at one time diagnoses first, then in the order given. */
	readonly events: readonly ReadEvent[];
	readonly unknown: readonly UnknownCode[];
	/** Records of drugs, where the model has none. */
	readonly drugs: number;
	/** Left out as repetitions. */
	readonly repeated: number;
	/** Left out as too many. */
	readonly cut: number;
	readonly latest: Latest | undefined;
}

export interface ReadPatient extends ReadRecords {
	readonly patient: NewPatient;
	/** Of each event of the history, the place of its record; −1 of the birth. */
	readonly places: readonly number[];
	/** A record lies before the birth, which is then taken as unknown. */
	readonly bornLate: boolean;
	/** A record lies after the day of death. */
	readonly late: boolean;
}

/** Reads records as those of a dataset were read. */
export interface RecordReader {
	patient(
		id: string,
		person: KnownPerson,
		records: readonly GivenRecord[],
		axis: TimeAxis,
	): ReadPatient;
	/** Further records of somebody whose earlier ones are known by what `latest` saw. */
	more(records: readonly GivenRecord[], axis: TimeAxis, latest: Latest | undefined): ReadRecords;
}

interface Concept {
	/** The token; below 0 where there is none. */
	readonly id: number;
	readonly code: string;
	readonly system: string | null;
}

interface Stands {
	readonly concepts: readonly Concept[];
	/** What the map does not know. */
	readonly unmapped?: Omit<Concept, "id">;
	readonly isDrug?: boolean;
	readonly isKnown: boolean;
	readonly rank: 0 | 1;
}

interface Candidate {
	readonly day: number;
	readonly rank: 0 | 1;
	readonly place: number;
	readonly concept: Concept;
	readonly alone: boolean;
}

/**
 * The one place where a few patients' records become a model's events; `prepare` does the same to whole
 * populations in SQL. It runs in a page too.
 */
export function recordReader(
	vocabulary: Vocabulary,
	rules: ReadingRules,
	map: CodeMap | undefined,
): RecordReader {
	const standsFor = codeReader(vocabulary, rules, map);

	const read = (
		records: readonly GivenRecord[],
		axis: TimeAxis,
		most: number | null,
		before?: Latest,
	): ReadRecords => {
		const candidates: Candidate[] = [];
		const unknown: UnknownCode[] = [];
		let drugs = 0;
		for (const [place, record] of records.entries()) {
			const { concepts, unmapped, isDrug, isKnown, rank } = standsFor(record);
			if (isDrug) drugs++;
			if (unmapped) unknown.push({ place, ...unmapped, alone: true });
			for (const concept of concepts)
				candidates.push({ day: record.day, rank, place, concept, alone: !isKnown });
		}
		// Sorting is stable: what one record stands for keeps its order.
		candidates.sort((a, b) => a.day - b.day || a.rank - b.rank || a.place - b.place);
		const { kept, latest } = withoutRepetitions(candidates, periodsOf(rules.dedup, axis), before);
		const last = most === null ? kept : kept.slice(-most);
		const events: ReadEvent[] = [];
		for (const { concept, day, place, alone } of last) {
			const { id: token, code, system } = concept;
			if (token >= 0) events.push({ token, day, place });
			else unknown.push({ place, code, system, alone });
		}
		return {
			...{ events, unknown, drugs, latest },
			repeated: candidates.length - kept.length,
			cut: kept.length - last.length,
		};
	};

	return {
		more: (records, axis, latest) => read(records, axis, null, latest),
		patient(id, { birth: born, sex, death }, records, axis) {
			const { deathToken, maxRecords } = rules;
			const days = records.map(({ day }) => day);
			const first = days.reduce((least, day) => Math.min(least, day), Number.POSITIVE_INFINITY);
			const last = days.reduce((most, day) => Math.max(most, day), Number.NEGATIVE_INFINITY);
			const isDeath = deathToken && death !== null;
			// Not before the last record: a date of death is the midnight that its day begins with.
			const all = isDeath ? [...records, { ...deathRecord, day: Math.max(death, last) }] : records;
			const found = read(all, axis, maxRecords);
			const bornLate = born !== null && first < born;
			const birth = bornLate ? null : born;
			const lastDay = Math.max(last, found.events.at(-1)?.day ?? Number.NEGATIVE_INFINITY);
			const history = historyOf(
				{ id, sex, birth },
				{
					tokens: Int32Array.from(found.events, ({ token }) => token),
					times: Float64Array.from(found.events, ({ day }) => day),
				},
			);
			return {
				...found,
				patient: {
					...{ id, sex, birth, death, history },
					lastRecord: Number.isFinite(lastDay) ? lastDay : null,
				},
				places: [...(birth === null ? [] : [-1]), ...found.events.map(({ place }) => place)],
				bornLate,
				late: death !== null && Math.floor(death) < Math.floor(last),
			};
		},
	};
}

const deathRecord = { code: "death", system: "Person", kind: "other" } as const;

/** Of candidates in order, the first of each concept and period. */
function withoutRepetitions(
	candidates: readonly Candidate[],
	periodOf: ((day: number) => number) | undefined,
	before: Latest | undefined,
): { readonly kept: readonly Candidate[]; readonly latest: Latest | undefined } {
	if (!periodOf) return { kept: candidates, latest: undefined };
	let period = before?.period;
	const seen = new Set(before?.seen);
	const kept = candidates.filter(({ day, concept, rank }) => {
		const own = periodOf(day);
		if (own !== period) seen.clear();
		period = own;
		const key = 2 * concept.id + rank;
		const isFirst = !seen.has(key);
		seen.add(key);
		return isFirst;
	});
	// What is no token has a number of this reading only.
	const tokens = new Set([...seen].filter((key) => key >= 0));
	return { kept, latest: period === undefined ? undefined : { period, seen: tokens } };
}

/** What codes stand for, each looked up once. */
function codeReader(vocabulary: Vocabulary, rules: ReadingRules, map: CodeMap | undefined) {
	const own = codeRules(rules, map);
	const known = new Map<string, Stands>();
	const strangers = new Map<string, number>();
	const conceptOf = (code: string, system: string): Concept => {
		const key = `${system}\u0000${code}`;
		const token = vocabulary.find(code, system);
		if (token === undefined && !strangers.has(key)) strangers.set(key, -1 - strangers.size);
		return { id: token ?? (strangers.get(key) as number), code, system };
	};
	const isKnown = (concepts: readonly Concept[]) => concepts.some(({ id }) => id >= 0);

	const ofSystem = (code: string, system: string, given: RecordKind | undefined): Stands => {
		// Codes are of the kind that they were of in the dataset, whatever this source calls them.
		const token = vocabulary.tokens[vocabulary.find(code, system) ?? 0];
		const inDataset = token && token.kind !== "special" ? token.kind : undefined;
		const kind = inDataset ?? given ?? kindOf(system);
		const { fate, concepts: meant, rank, code: normal } = meaningOf({ system, code, kind }, own);
		const concepts = meant.map((one) => conceptOf(one.code, one.system));
		return {
			...{ concepts, rank, isKnown: isKnown(concepts) },
			...(fate === "not in the map" &&
				meant.length === 0 && { unmapped: { code: normal, system } }),
			...(fate === "a drug that is no token" && { isDrug: true }),
		};
	};

	const ofToken = (token: number): Stands => {
		const { code, system, kind } = vocabulary.tokens[token] as (typeof vocabulary.tokens)[number];
		return {
			concepts: [{ id: token, code, system }],
			isKnown: true,
			rank: kind === "diagnosis" ? 0 : 1,
		};
	};

	/** The model's own code, else an ICD code, else a PheCode with zeros or decimals the model's has not. */
	const ofAnySystem = (code: string): Stands => {
		const found = vocabulary.find(code);
		if (found !== undefined) return ofToken(found);
		// A letter begins ICD-10-CM codes, and few others.
		for (const system of ["ICD10CM", "ICD9CM"]) {
			const stands = ofSystem(code, system, "diagnosis");
			if (stands.isKnown) return stands;
		}
		const phecode = normalisePheCode(code);
		for (const general of phecode ? [phecode, integerPheCode(phecode)] : []) {
			if (general !== phecode && rules.level !== "integer") continue;
			const token = vocabulary.find(general, "PheCode");
			if (token !== undefined) return ofToken(token);
		}
		return { concepts: [], unmapped: { code, system: null }, isKnown: false, rank: 0 };
	};

	return ({ code, system, kind }: GivenRecord): Stands => {
		const key = `${system ?? ""}\u0000${kind ?? ""}\u0000${code}`;
		const before = known.get(key);
		if (before) return before;
		const stands = system === null ? ofAnySystem(code) : ofSystem(code, system, kind);
		known.set(key, stands);
		return stands;
	};
}
