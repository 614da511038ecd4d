import type { TimeAxis } from "../../../base/time.js";
import { type CodeMap, integerPheCode, normalisePheCode } from "../../codes/map.js";
import { counted } from "../../records/bad-rows.js";
import type { RecordKind, Sex } from "../../records/rows.js";
import { kindOf } from "../../records/systems.js";
import { type History, historyOf, type Period, periodOf } from "../history.js";
import { rangeToken } from "../values.js";
import { specialTokens, type Vocabulary } from "../vocabulary.js";
import type { KnownPerson } from "./people.js";
import {
	birthOf,
	codeRules,
	compareEvents,
	conceptsOf,
	cutEvents,
	deathRecord,
	deathTime,
	isAfterDeath,
	type LatestPeriod,
	type OrderedEvent,
	periodsOf,
	type ReadingRules,
	withoutRepetitions,
} from "./rules.js";

/** A record as in its source. */
export interface GivenRecord {
	readonly day: number;
	readonly code: string;
	/** Null if unknown: any system with codes of this form. */
	readonly system: string | null;
	/** By default the kind of the code system. */
	readonly kind?: RecordKind | undefined;
	readonly value?: number | null | undefined;
	/** Of the value; null if it has none. Undefined if unknown: then the one that the code has in the dataset. */
	readonly unit?: string | null | undefined;
}

export interface NewPatient {
	readonly id: string;
	readonly sex: Sex | null;
	/** In days on the axis of the events, like death; null if unknown. */
	readonly birth: number | null;
	readonly death: number | null;
	/** The time of the last record, whether or not its code is known, or of a death event; null if there is none. */
	readonly lastRecord: number | null;
	readonly history: History;
}

/** A code without a token, or one that is not in the map. */
export interface UnknownCode {
	/** The position of the record in the input. */
	readonly place: number;
	/** The code that it maps to. */
	readonly code: string;
	readonly system: string | null;
	/** Whether the record maps to no known code at all. */
	readonly alone: boolean;
}

interface Concept {
	/** The first of its tokens; negative if there is none. */
	readonly id: number;
	readonly code: string;
	readonly system: string | null;
	/** The token of a record without a value, or whose value is in no range. */
	readonly token: number | undefined;
	/** The tokens of the ranges of its values. */
	readonly ranges: readonly number[];
}

interface CodeMeaning {
	readonly concepts: readonly Concept[];
	/** The code, if the map does not know it. */
	readonly unmapped?: Pick<Concept, "code" | "system">;
	readonly isDrug?: boolean;
	readonly rank: 0 | 1;
}

interface Candidate extends OrderedEvent {
	readonly concept: Concept;
	readonly token: number | undefined;
	readonly alone: boolean;
}

/**
 * Turns the records of a few patients into a model's events, in Node and in the browser. `prepare` does the same
 * for whole populations in SQL, by the same rules: `concepts.ts`, `reading/rules.ts`, `people.ts`.
 */
export function recordReader(
	vocabulary: Vocabulary,
	rules: ReadingRules,
	map: CodeMap | undefined,
) {
	const meaningOf = codeReader(vocabulary, rules, map);

	const read = (
		records: readonly GivenRecord[],
		axis: TimeAxis,
		most: number | null,
		before?: LatestPeriod,
	) => {
		const candidates: Candidate[] = [];
		const unknown: UnknownCode[] = [];
		let drugs = 0;
		for (const [place, record] of records.entries()) {
			const { concepts, unmapped, isDrug, rank } = meaningOf(record);
			if (isDrug) drugs++;
			if (unmapped) unknown.push({ place, ...unmapped, alone: true });
			const tokens = concepts.map(
				({ token, ranges }) =>
					rangeToken(vocabulary.tokens, ranges, record.value, record.unit) ?? token,
			);
			const alone = tokens.every((token) => token === undefined);
			for (const [nth, concept] of concepts.entries())
				candidates.push({
					time: record.day,
					rank,
					ord: place,
					nth,
					concept,
					token: tokens[nth],
					alone,
				});
		}
		candidates.sort(compareEvents);
		const { kept, latest } = withoutRepetitions(candidates, periodsOf(rules.dedup, axis), before);
		const last = cutEvents(kept, most, "last");
		/** `place`: the position of the record in the input. */
		const events: { token: number; day: number; place: number }[] = [];
		for (const { concept, token, time: day, ord: place, alone } of last) {
			const { code, system } = concept;
			if (token !== undefined) events.push({ token, day, place });
			else unknown.push({ place, code, system, alone });
		}
		return {
			/** By time; at the same time diagnoses first, then input order. */
			events,
			unknown,
			/** Drug records, if the model has no drug tokens. */
			drugs,
			latest,
			/** Events left out as repetitions. */
			repeated: candidates.length - kept.length,
			/** Events left out because of `maxRecords`. */
			cut: kept.length - last.length,
			/** The time of the first kept event, if earlier ones were cut. */
			keptFrom: last.length < kept.length ? (last[0]?.time ?? null) : null,
		};
	};

	return {
		/** Reads further records of a patient; `latest` describes the earlier ones. */
		more: (records: readonly GivenRecord[], axis: TimeAxis, latest: LatestPeriod | undefined) =>
			read(records, axis, null, latest),
		/**
		 * Why nothing is predicted for a patient with so many records, with known events and drugs without tokens among
		 * them: a prediction needs one record whose code the model knows. Undefined if there is one.
		 */
		lacksKnown(records: number, events: number, drugs: number): string | undefined {
			if (events > 0) return undefined;
			if (records === 0) return "no record; a prediction needs at least one";
			const accepted = acceptedCodes(vocabulary, rules);
			const ofDrugs =
				drugs > 0
					? `${counted(drugs, "is of a drug", "are of drugs")}, and the model has no drugs; `
					: "";
			const lacksMap = rules.map !== null && map === undefined;
			return `${counted(records, "record")}, none with a code that the model knows; ${ofDrugs}${drugs < records ? "check the codes and their system; " : ""}accepted are ${accepted}${lacksMap ? "; ICD codes need the map of the dataset, which was not given" : ""}`;
		},
		/** Without `observed`, the patient is observed from the first to the last record, whether or not its code is known. */
		patient(
			id: string,
			person: KnownPerson & { readonly observed?: readonly Period[] | undefined },
			records: readonly GivenRecord[],
			axis: TimeAxis,
		) {
			const { birth: born, sex, death, observed } = person;
			const { deathToken, maxRecords } = rules;
			const days = records.map(({ day }) => day);
			const first = days.reduce((least, day) => Math.min(least, day), Number.POSITIVE_INFINITY);
			const last = days.reduce((most, day) => Math.max(most, day), Number.NEGATIVE_INFINITY);
			const isDeath = deathToken && death !== null;
			const all = isDeath ? [...records, { ...deathRecord, day: deathTime(death, last) }] : records;
			const reading = read(all, axis, maxRecords);
			const birth = birthOf(born, first);
			const lastDay = Math.max(last, reading.events.at(-1)?.day ?? Number.NEGATIVE_INFINITY);
			const inSource = observed ?? (days.length > 0 ? periodOf([first, last]) : []);
			const events = {
				tokens: Int32Array.from(reading.events, ({ token }) => token),
				times: Float64Array.from(reading.events, ({ day }) => day),
			};
			const kept = observedFrom(inSource, reading.keptFrom);
			const patient: NewPatient = {
				id,
				sex,
				birth,
				death,
				history: historyOf({ id, sex, birth, death, observed: kept }, events),
				lastRecord: Number.isFinite(lastDay) ? lastDay : null,
			};
			return {
				...reading,
				patient,
				/** For each event of the history the position of its record; −1 for the birth event. */
				places: [...(birth === null ? [] : [-1]), ...reading.events.map(({ place }) => place)],
				/** Whether a record lies before the birth, which then counts as unknown. */
				bornLate: born !== null && birth === null,
				/** Whether a record lies after the day of death. */
				late: isAfterDeath(death, last),
			};
		},
	};
}

/** Reads records by the same rules as those of a dataset. */
export type RecordReader = ReturnType<typeof recordReader>;
export type ReadRecords = ReturnType<RecordReader["more"]>;
export type ReadPatient = ReturnType<RecordReader["patient"]>;

/** Names the codes that a model accepts. */
export function acceptedCodes({ tokens }: Vocabulary, { map }: Pick<ReadingRules, "map">): string {
	const systems = [...new Set(tokens.flatMap(({ system }) => system ?? []))];
	const ofModel = systems.length > 0 ? systems.join(", ") : "the model";
	return map === null
		? `those of ${ofModel}, as they are`
		: `ICD-9-CM and ICD-10-CM diagnoses (mapped to PheCodes), and those of ${ofModel}`;
}

/** Where records were left out, a patient counts as not observed. */
function observedFrom(observed: readonly Period[], time: number | null): readonly Period[] {
	if (time === null) return observed;
	const day = Math.floor(time);
	return observed
		.filter(({ end }) => end >= day)
		.map(({ start, end }) => ({ start: Math.max(start, day), end }));
}

/** Maps codes to concepts, and looks up each code once. */
function codeReader(vocabulary: Vocabulary, rules: ReadingRules, map: CodeMap | undefined) {
	const conceptRules = codeRules(rules, map);
	const known = new Map<string, CodeMeaning>();
	const unknownIds = new Map<string, number>();
	const conceptOf = (code: string, system: string): Concept => {
		const key = `${system}\u0000${code}`;
		const tokens = vocabulary.tokensOf(code, system);
		const plain = vocabulary.find(code, system);
		const [first = plain] = tokens;
		if (first === undefined && !unknownIds.has(key)) unknownIds.set(key, -1 - unknownIds.size);
		return {
			id: first ?? (unknownIds.get(key) as number),
			code,
			system,
			token: plain,
			ranges: tokens.filter((token) => token !== plain),
		};
	};
	const kindOfToken = (token: number | undefined): RecordKind | undefined => {
		const { kind } = vocabulary.tokens[token ?? specialTokens.pad];
		return kind === "special" ? undefined : kind;
	};

	const ofSystem = (code: string, system: string, given: RecordKind | undefined): CodeMeaning => {
		// The kind of a code in the dataset overrides the kind given in the source.
		const known = vocabulary.find(code, system) ?? vocabulary.tokensOf(code, system)[0];
		const kind = kindOfToken(known) ?? given ?? kindOf(system);
		const { outcome, concepts, rank, ...normal } = conceptsOf({ system, code, kind }, conceptRules);
		const isUnmapped = outcome === "not in the map" && concepts.length === 0;
		return {
			concepts: concepts.map((concept) => conceptOf(concept.code, concept.system)),
			rank,
			...(isUnmapped && { unmapped: { code: normal.code, system } }),
			...(outcome === "a drug without a token" && { isDrug: true }),
		};
	};

	const ofToken = (token: number): CodeMeaning => {
		const { code, system, kind } = vocabulary.tokens[token];
		return { concepts: [conceptOf(code, system as string)], rank: kind === "diagnosis" ? 0 : 1 };
	};

	/** Tries the model's own codes, then ICD codes, then PheCodes written with other zeros or decimals. */
	const ofAnySystem = (code: string): CodeMeaning => {
		const exact = vocabulary.find(code);
		if (exact !== undefined) return ofToken(exact);
		const [range] = vocabulary.tokensOf(code);
		if (range !== undefined)
			return ofSystem(code, vocabulary.tokens[range].system as string, kindOfToken(range));
		// ICD-10-CM codes begin with a letter, few others do.
		for (const system of ["ICD10CM", "ICD9CM"]) {
			const meaning = ofSystem(code, system, "diagnosis");
			if (meaning.concepts.some(({ id }) => id >= 0)) return meaning;
		}
		const phecode = normalisePheCode(code);
		for (const general of phecode ? [phecode, integerPheCode(phecode)] : []) {
			if (general !== phecode && rules.level !== "integer") continue;
			const token = vocabulary.find(general, "PheCode");
			if (token !== undefined) return ofToken(token);
		}
		return { concepts: [], unmapped: { code, system: null }, rank: 0 };
	};

	return ({ code, system, kind }: GivenRecord): CodeMeaning => {
		const key = `${system ?? ""}\u0000${kind ?? ""}\u0000${code}`;
		const before = known.get(key);
		if (before) return before;
		const meaning = system === null ? ofAnySystem(code) : ofSystem(code, system, kind);
		known.set(key, meaning);
		return meaning;
	};
}
