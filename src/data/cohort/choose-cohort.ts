import { InputError } from "../../base/errors.js";
import type { TimeAxis } from "../../base/time.js";
import { BadRows, counted } from "../records/bad-rows.js";
import type { Store } from "../records/store.js";
import { type Concept, compare, mapCodes, summaryOf } from "./concepts.js";
import type { Manifest } from "./manifest.js";
import { addDeaths, gatherPeople } from "./people.js";
import { peopleWarnings } from "./plausible-times.js";
import type { Preparation, PrepareOptions } from "./prepare-options.js";
import { cutSql, orderSql, periodsOf } from "./reading/rules.js";
import { fillInOrder, type Shards } from "./shards.js";
import { comparableValueSql, divideValues, knownRanges, learntRanges, unitSql } from "./values.js";
import { specialCount, type Token, type Vocabulary, vocabularyOf } from "./vocabulary.js";

/** What is known of the records once they are read. */
export type ReadRecords = Awaited<ReturnType<typeof readRecords>>;

/** Reads the source, gathers its people and maps its codes. */
export async function readRecords({ store, source, options, stage, notes, warnings }: Preparation) {
	const bad = options.skipBad ? new BadRows() : undefined;
	const loaded = await source.load(store, bad);
	const records = await store.count("record");
	if (records === 0)
		throw new InputError(
			`${source.path} contains no records; expected at least one (patient, time, code)`,
		);
	stage("gathering the people");
	const people = await gatherPeople(store, options);
	warnings.push(...(loaded.warnings ?? []), ...(await peopleWarnings(store, loaded)));
	const deathEvents = options.deathToken ? await addDeaths(store) : 0;
	stage("mapping codes");
	const concepts = await mapCodes(store, options);
	warnings.push(...mappedWarnings(concepts.codes));
	notes.push(...loaded.notes, ...(bad ? badRowNotes(bad) : []), ...people.notes);
	return {
		loaded,
		records,
		splitsGiven: people.given,
		deathEvents,
		concepts,
		valued: await store.count("record WHERE value IS NOT NULL"),
	};
}

/** Chooses the patients and the codes of a dataset, and numbers its tokens. */
export async function chooseCohort(
	{ store, source, options, stage, notes }: Preparation,
	{ loaded, records, concepts, valued }: ReadRecords,
	shards: Shards,
) {
	const { like, values, minCount, minRecords } = options;
	const gathered = await shards.each(async () => {
		await numberRecords(store, options, shards);
		stage("choosing the cohort");
		return gatherEvents(store, options, loaded.axis);
	});
	const [duplicates = 0, cut = 0] = shards.sums([gathered.duplicates, gathered.cut]);
	let { list } = concepts;
	if (values !== null && like)
		list = await divideValues(store, list, knownRanges(list, like.vocabulary));
	else if (values !== null) {
		await selectCohort(store, options, shards);
		list = await divideValues(store, list, await learntRanges(store, list, values, minCount));
	}
	if (like) await shards.each(() => numberTokens(store, tokensOf(list, like.vocabulary)));
	await selectCohort(store, options, shards, values === null || like ? "concept" : "code");
	const [kept] = shards.sums([await store.count("kept_patient")]);
	if (like && kept === 0)
		throw new InputError(
			`${source.path}: no patient has ${minRecords} records of the ${like.vocabulary.size} codes of the run; check that the codes are of the same classification, and name it with \`system\``,
			{ field: "like" },
		);
	const tokens = like
		? like.vocabulary.tokens.slice(specialCount) // with the counts of the dataset that it comes from
		: await learnTokens(store, list);
	const aboutDrugs = drugNotes(concepts.drugs, options);
	if (tokens.length === 0)
		throw new InputError(
			`${source.path}: no code of ${records} records is left: none has ${minCount} records among training patients with at least ${minRecords} records; lower \`minCount\` or \`minRecords\`, add patients, or set \`codes\` to as-is to see whether the codes could not be mapped${aboutDrugs.map((note) => `; ${note}`)}`,
		);
	notes.push(...aboutDrugs);
	if (values !== null && valued === 0)
		notes.push(
			"no record has a numeric value, or it was not read: there is none to make tokens of",
		);
	const dropped = await countDropped(store, list, like !== undefined, shards);
	return {
		vocabulary: vocabularyOf(tokens),
		dropped: { duplicates, cut, drugs: concepts.drugs, ...dropped },
	};
}

/** Replaces texts by numbers: table `coded` (patient, time, code, ord and, if used, value and unit). Drops `record`. */
async function numberRecords(
	store: Store,
	{ values }: Pick<PrepareOptions, "values">,
	shards: Shards,
): Promise<void> {
	// If no two systems share a code, the code alone identifies it: one text to compare instead of three.
	const [shared] = await store.all<{ n: number }>(
		"SELECT count(*) - count(DISTINCT code) AS n FROM code",
	);
	const keys = shared.n ? ["code", "system", "kind"] : ["code"];
	await store.run(`
		CREATE TABLE coded AS
		SELECT patient.id AS patient, time, code.id AS code, record.row AS ord
			${values === null ? "" : `, ${comparableValueSql("value")} AS value, ${unitSql("unit")} AS unit`}
		FROM record
		JOIN patient ON patient.key = record.patient
		JOIN code ON ${keys.map((key) => `code.${key} = record.${key}`).join(" AND ")}
		WHERE ${shards.ownSql("patient.id")}`);
	await store.dropRecords();
}

/**
 * Collects candidates for tokens by the rules of `reading/rules.ts`: table `event` (patient, time, concept, rank,
 * ord, nth and, if used, value and unit). With `maxRecords`, table `shortened` (id, first, last) has the days kept of the histories it cut.
 */
export async function gatherEvents(
	store: Store,
	{
		dedup,
		maxRecords,
		keep,
		values,
	}: Pick<PrepareOptions, "dedup" | "maxRecords" | "keep" | "values">,
	axis: TimeAxis,
): Promise<{ duplicates: number; cut: number }> {
	const all = `
		SELECT patient, time, concept, rank, ord, nth ${values === null ? "" : ", value, unit"}
		FROM coded JOIN mapping ON mapping.code = coded.code`;
	const periods = periodsOf(dedup, axis);
	if (!periods && maxRecords === null && values === null) {
		await store.run(`CREATE VIEW event AS ${all}`); // read only twice: cheaper than a table
		return { duplicates: 0, cut: 0 };
	}
	if (!periods) await store.run(`CREATE TABLE event AS ${all}`);
	else
		await store.run(`
			CREATE TABLE event AS
			SELECT patient, earliest.time AS time, concept, rank, earliest.ord AS ord,
				earliest.nth AS nth ${values === null ? "" : ", earliest.value AS value, earliest.unit AS unit"} FROM (
				SELECT patient, concept, rank,
					min({'time': time, 'ord': ord, 'nth': nth ${values === null ? "" : ", 'value': value, 'unit': unit"}}) AS earliest
				FROM (${all}) GROUP BY patient, concept, rank, ${periods.sql})`);
	const before = await store.count(`(${all})`);
	const left = await store.count("event");
	if (maxRecords === null) return { duplicates: before - left, cut: 0 };
	await store.run(`
		CREATE TABLE shorter AS SELECT * FROM event
		QUALIFY ${cutSql(maxRecords, keep)}`);
	await store.run(`
		CREATE OR REPLACE TABLE shortened AS
		SELECT patient AS id, floor(min(time)) AS first, floor(max(time)) AS last FROM shorter
		WHERE patient IN (SELECT patient FROM event GROUP BY patient HAVING count(*) > ${maxRecords})
		GROUP BY patient`);
	await store.run("DROP TABLE event");
	await store.run("ALTER TABLE shorter RENAME TO event");
	return { duplicates: before - left, cut: left - (await store.count("event")) };
}

/**
 * Applies the filters: creates tables `kept_patient` (id, split) and `kept_concept` (id, n). Every kept code has
 * at least `minCount` records among the kept training patients, and every kept patient at least `minRecords`
 * records of kept codes. Dropping one can violate the other rule, so the two alternate until nothing changes.
 * Concepts with the same `code` (SQL), the ranges of its values, are counted together. The codes of a given vocabulary
 * (`like`), in table `token`, are all kept. Reads `event` once, into table `concept_count` (patient, concept, code, n).
 */
async function selectCohort(
	store: Store,
	{ like, minRecords, minCount }: PrepareOptions,
	shards: Shards,
	code = "concept",
): Promise<void> {
	const countKept = async () => shards.sums([await store.count("kept_patient")])[0];
	await shards.each(async () => {
		await store.run(`
			CREATE OR REPLACE TABLE concept_count AS
			SELECT patient, concept, ${code} AS code, count(*)::INTEGER AS n FROM event GROUP BY ALL`);
		await store.run(`
			CREATE OR REPLACE TABLE kept_patient AS
			SELECT id, split FROM patient WHERE ${shards.ownSql("id")}`);
	});
	const dropPatients = () =>
		store.run(`
			CREATE OR REPLACE TABLE kept_patient AS
			SELECT id, split FROM kept_patient SEMI JOIN (
				SELECT patient FROM concept_count SEMI JOIN kept_concept ON kept_concept.id = concept_count.concept
				GROUP BY patient HAVING sum(n) >= ${minRecords}
			) AS enough ON enough.patient = kept_patient.id`);
	if (like)
		return shards.each(async () => {
			await store.run("CREATE TABLE kept_concept AS SELECT concept AS id FROM token");
			await dropPatients();
		});
	let patients = await countKept();
	while (true) {
		await shards.each(() =>
			store.run(`
				CREATE OR REPLACE TABLE concept_sum AS SELECT concept, code, sum(n)::DOUBLE AS n
				FROM concept_count JOIN kept_patient ON kept_patient.id = concept_count.patient
				WHERE split = 'train' GROUP BY concept, code`),
		);
		await spreadSums(store, shards);
		await shards.each(async () => {
			await store.run(`
				CREATE OR REPLACE TABLE kept_concept AS
				SELECT concept AS id, sum(n)::BIGINT AS n FROM concept_sum GROUP BY concept, code
				QUALIFY sum(sum(n)) OVER (PARTITION BY code) >= ${minCount}`);
			await dropPatients();
		});
		const left = await countKept();
		if (left === patients) return;
		patients = left;
	}
}

/** Gives every rank the `concept_sum` of all ranks. */
async function spreadSums(store: Store, shards: Shards): Promise<void> {
	if (shards.communicator.size === 1) return;
	const sums = await shards.rows(
		await store.all<{ concept: number; code: number; n: number }>("SELECT * FROM concept_sum"),
	);
	await store.create("concept_sum", "concept INTEGER, code INTEGER, n DOUBLE");
	await store.append("concept_sum", sums);
}

/** Numbers the vocabulary's tokens, the most frequent first. */
async function learnTokens(store: Store, concepts: readonly Concept[]): Promise<Token[]> {
	const kept = await store.all<{ id: number; n: number }>("SELECT id, n FROM kept_concept");
	const tokens = kept
		.map(({ id, n }) => ({ id, ...concepts[id], count: n }))
		.sort((a, b) => b.count - a.count || compare(a.system, b.system) || compare(a.code, b.code));
	const numbers = tokens.map(({ id }, at) => ({ concept: id, token: specialCount + at }));
	await numberTokens(store, numbers);
	return tokens.map(({ id: _, ...token }) => token);
}

/** Creates table `token` (concept, token). */
async function numberTokens(
	store: Store,
	numbers: readonly { readonly concept: number; readonly token: number }[],
): Promise<void> {
	await store.create("token", "concept INTEGER, token INTEGER");
	await store.append("token", numbers);
}

/** Counts the patients and codes that `selectCohort` dropped. */
async function countDropped(
	store: Store,
	concepts: readonly Concept[],
	vocabularyIsGiven: boolean,
	shards: Shards,
): Promise<Pick<Manifest["dropped"], "patients" | "rareCodes" | "unknownCodes">> {
	const { gone, lostHere } = await shards.each(async () => {
		const [gone] = await store.all<{ patients: number; events: number }>(`
		SELECT (SELECT count(*) FROM patient ANTI JOIN kept_patient USING (id)
				WHERE ${shards.ownSql("id")}) AS patients,
			coalesce((SELECT sum(n) FROM concept_count
				ANTI JOIN kept_patient ON kept_patient.id = concept_count.patient), 0)::BIGINT AS events`);
		const lostHere = await store.all<{ concept: number; events: number; known: boolean }>(`
		SELECT concept, sum(n)::BIGINT AS events, bool_or(split = 'train') AS known
		FROM concept_count JOIN kept_patient ON kept_patient.id = concept_count.patient
		ANTI JOIN kept_concept ON kept_concept.id = concept_count.concept
		GROUP BY concept`);
		return { gone, lostHere };
	});
	const [patients = 0, events = 0] = shards.sums([gone.patients, gone.events]);
	const lost = await shards.rows(lostHere);
	const known = new Set(lost.filter((code) => code.known).map(({ concept }) => concept));
	const summary = (inTraining: boolean) =>
		summaryOf(
			lost
				.filter(({ concept }) => (known.has(concept) && !vocabularyIsGiven) === inTraining)
				.map(({ concept, events }) => ({ ...concepts[concept], records: events })),
		);
	return {
		patients: { patients, events },
		rareCodes: summary(true),
		unknownCodes: summary(false),
	};
}

const tokensOf = (concepts: readonly Concept[], vocabulary: Vocabulary) =>
	concepts.flatMap(({ code, system }, concept) => {
		const token = vocabulary.find(code, system);
		return token === undefined ? [] : [{ concept, token }];
	});

/** Says how many rows were left out as unreadable, and what is wrong with the first. */
const badRowNotes = ({ count, first }: BadRows): string[] =>
	count === 0
		? []
		: [
				`${count} ${count === 1 ? "row" : "rows"} that cannot be read: left out`,
				...first.map((one) => `left out: ${one}`),
			];

/** Warns if fewer than half of the diagnoses are in the map, and names the most frequent of the others. */
function mappedWarnings({ map, mapped, unmapped }: Manifest["codes"]): string[] {
	const all = mapped + unmapped.events;
	if (map === null || 2 * mapped >= all) return [];
	const top = unmapped.top
		.slice(0, 10)
		.map(({ code, system, events }) => `${system} ${code} (${events})`);
	return [
		`only ${mapped} of ${all} diagnoses have a PheCode in ${map}; the most frequent without one: ${top.join(", ")}; check the code system of the source, or set \`codes\` to as-is`,
	];
}

/** Says how many records of drugs are no events, and how they become some. */
function drugNotes(drugs: number, { drugs: use, like }: Pick<PrepareOptions, "drugs" | "like">) {
	if (drugs === 0) return [];
	const records = counted(drugs, "record is of a drug", "records are of drugs");
	const used = use === "labels" ? "used for labels only" : "left out";
	const remedy = like
		? "the model has no drugs"
		: "set `drugs` to tokens to have them among the events";
	return [`${records}: ${used}; ${remedy}`];
}

/** Memory for sorting per event: its columns, the keys, and as much again. */
const bytesPerSortedEvent = 128;

/**
 * Creates tables `cohort` (id, number) of the kept patients and `final`, the dataset's events in order. More events
 * than can be sorted in memory are sorted one range of patients after the other.
 */
export async function sortEvents(store: Store, shards: Shards, memory: number): Promise<void> {
	const kept = await shards.rows([{ patients: await store.count("kept_patient") }]);
	const { rank } = shards.communicator;
	const { patients } = kept[rank];
	const before = kept.slice(0, rank).reduce((sum, shard) => sum + shard.patients, 0);
	await shards.each(async () => {
		await store.run(`
			CREATE TABLE cohort AS
			SELECT id, (${before} + row_number() OVER (ORDER BY id) - 1)::INTEGER AS number FROM kept_patient`);
		const events = await countEvents(store);
		const ranges = Math.max(1, Math.ceil((events * bytesPerSortedEvent) / memory));
		const bounds = Array.from(
			{ length: ranges + 1 },
			(_, i) => before + Math.floor((i * patients) / ranges),
		);
		await fillInOrder(
			store,
			"final",
			Array.from({ length: ranges }, (_, i) =>
				sortedSql(
					ranges === 1
						? "true"
						: `cohort.number >= ${bounds[i]} AND cohort.number < ${bounds[i + 1]}`,
				),
			),
		);
	});
}

/** The number of events of the dataset. */
async function countEvents(store: Store): Promise<number> {
	const [total] = await store.all<{ events: number | null }>(`
		SELECT sum(n)::BIGINT AS events FROM concept_count
		SEMI JOIN kept_patient ON kept_patient.id = concept_count.patient
		SEMI JOIN token ON token.concept = concept_count.concept`);
	return total.events ?? 0;
}

const sortedSql = (condition: string) => `
	SELECT cohort.number AS patient, time, token.token, rank, ord
	FROM event
	JOIN cohort ON cohort.id = event.patient
	JOIN token ON token.concept = event.concept
	WHERE ${condition}
	ORDER BY cohort.number, ${orderSql()}`;
