import type { TimeAxis } from "../../base/time.js";
import type { CodeMap } from "../../codes/map.js";
import { integerPheCode, normalisePheCode } from "../../codes/map.js";
import type { RecordKind, Sex } from "../../records/rows.js";
import { kindOf } from "../../records/systems.js";
import { type History, historyOf } from "../history.js";
import type { Vocabulary } from "../vocabulary.js";
import { conceptsOf } from "./code-concepts.js";
import {
	birthOf,
	compareEvents,
	cutEvents,
	deathRecord,
	deathTime,
	isAfterDeath,
	type LatestPeriod,
	type OrderedEvent,
	periodsOf,
	withoutRepetitions,
} from "./history-rules.js";
import type { KnownPerson } from "./people.js";
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
	readonly latest: LatestPeriod | undefined;
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
	more(
		records: readonly GivenRecord[],
		axis: TimeAxis,
		latest: LatestPeriod | undefined,
	): ReadRecords;
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

interface Candidate extends OrderedEvent {
	readonly concept: Concept;
	readonly alone: boolean;
}

/**
 * Turns the records of a few patients into a model's events, in Node and in a page. `prepare` does the
 * same to whole populations in SQL, by the same rules: `code-concepts.ts`, `history-rules.ts`, `people.ts`.
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
		before?: LatestPeriod,
	): ReadRecords => {
		const candidates: Candidate[] = [];
		const unknown: UnknownCode[] = [];
		let drugs = 0;
		for (const [place, record] of records.entries()) {
			const { concepts, unmapped, isDrug, isKnown, rank } = standsFor(record);
			if (isDrug) drugs++;
			if (unmapped) unknown.push({ place, ...unmapped, alone: true });
			for (const [nth, concept] of concepts.entries())
				candidates.push({ time: record.day, rank, ord: place, nth, concept, alone: !isKnown });
		}
		candidates.sort(compareEvents);
		const { kept, latest } = withoutRepetitions(candidates, periodsOf(rules.dedup, axis), before);
		const last = cutEvents(kept, most, "last");
		const events: ReadEvent[] = [];
		for (const { concept, time: day, ord: place, alone } of last) {
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
			const all = isDeath ? [...records, { ...deathRecord, day: deathTime(death, last) }] : records;
			const found = read(all, axis, maxRecords);
			const birth = birthOf(born, first);
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
				bornLate: born !== null && birth === null,
				late: isAfterDeath(death, last),
			};
		},
	};
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
		const {
			outcome,
			concepts: meant,
			rank,
			code: normal,
		} = conceptsOf({ system, code, kind }, own);
		const concepts = meant.map((one) => conceptOf(one.code, one.system));
		return {
			...{ concepts, rank, isKnown: isKnown(concepts) },
			...(outcome === "not in the map" &&
				meant.length === 0 && { unmapped: { code: normal, system } }),
			...(outcome === "a drug that is no token" && { isDrug: true }),
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
