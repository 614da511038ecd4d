import type { RecordSource } from "../records/rows.js";
import type { Store } from "../records/store.js";
import type { Concept } from "./concepts.js";
import { gatherEvents, numberRecords } from "./events-table.js";
import { knownTokens, selectKnown } from "./known-vocabulary.js";
import type { Manifest } from "./manifest.js";
import type { PrepareOptions } from "./prepare.js";
import { drugNotes, emptyVocabulary, nobodyKnown } from "./prepare-messages.js";
import type { ReadRecords } from "./read-records.js";
import { countDropped, numberTokens, selectCohort } from "./select.js";
import type { Shards } from "./shards.js";
import { divideValues, knownRanges, learntRanges } from "./value-ranges.js";
import { type Vocabulary, vocabularyOf } from "./vocabulary.js";

/** The codes of a dataset, and what was left out. */
interface Cohort {
	readonly vocabulary: Vocabulary;
	readonly dropped: Manifest["dropped"];
	readonly notes: readonly string[];
}

/** Chooses the patients and the codes of a dataset, and numbers its tokens. */
export async function chooseCohort(
	store: Store,
	source: RecordSource,
	{ loaded, records, concepts, valued }: ReadRecords,
	shards: Shards,
	options: PrepareOptions,
	stage: (name: string) => void,
): Promise<Cohort> {
	const gathered = await shards.each(async () => {
		await numberRecords(store, options, shards);
		stage("choosing the cohort");
		return gatherEvents(store, options, loaded.axis);
	});
	const [duplicates = 0, cut = 0] = shards.sums([gathered.duplicates, gathered.cut]);
	const { like, values, minRecords, minCount } = options;
	const list = await withValues(store, concepts.list, shards, options);
	if (like) await shards.each(() => selectKnown(store, list, like.vocabulary, minRecords));
	else
		await selectCohort(store, minRecords, minCount, shards, values === null ? "concept" : "code");
	const [kept] = shards.sums([await store.count("kept_patient")]);
	if (like && kept === 0) throw nobodyKnown(source, options);
	const tokens = like ? knownTokens(like.vocabulary) : await numberTokens(store, list);
	if (tokens.length === 0) throw emptyVocabulary(source, records, concepts.drugs, options);
	const dropped = await countDropped(store, list, like !== undefined, shards);
	return {
		vocabulary: vocabularyOf(tokens),
		dropped: { duplicates, cut, drugs: concepts.drugs, ...dropped },
		notes: [
			...drugNotes(concepts.drugs, options),
			...(values !== null && valued === 0
				? ["no record has a numeric value, or it was not read: there is none to make tokens of"]
				: []),
		],
	};
}

/** The concepts, split by ranges of values if values become tokens. */
async function withValues(
	store: Store,
	list: readonly Concept[],
	shards: Shards,
	{ like, values, minRecords, minCount }: PrepareOptions,
): Promise<readonly Concept[]> {
	if (values === null) return list;
	if (like) return divideValues(store, list, knownRanges(list, like.vocabulary));
	await selectCohort(store, minRecords, minCount, shards);
	return divideValues(store, list, await learntRanges(store, list, values, minCount));
}
