import type { Communicator } from "../../base/communicator.js";
import { builtInMap } from "../codes/index.js";
import type { TimeIs } from "../records/rows.js";
import type { Store } from "../records/store.js";
import type { CodeOptions } from "./concepts.js";
import type { EventOptions } from "./events-table.js";
import type { Manifest } from "./manifest.js";
import { type SplitParts, usualParts } from "./people.js";
import type { UserLabels } from "./user-labels.js";
import type { Vocabulary } from "./vocabulary.js";

export interface PrepareOptions extends EventOptions, CodeOptions {
	/** Minimum number of records per patient. */
	readonly minRecords: number;
	/** Minimum number of records per code in the training split. */
	readonly minCount: number;
	readonly splitSeed: number;
	readonly splitParts: SplitParts;
	/** A file with the splits of patients: CSV or Parquet. */
	readonly splitsFrom?: string | undefined;
	/** Whether to leave out rows that cannot be read; if not, the first is refused. */
	readonly skipBad?: boolean | undefined;
	/** The vocabulary of another dataset, which is kept as it is, and where it comes from. */
	readonly like?: KnownVocabulary | undefined;
	/** Whether a known death becomes the last event of a history. */
	readonly deathToken: boolean;
	readonly labels: readonly UserLabels[];
	/** The unit of the times of the labels, if it is not that of the records. */
	readonly labelTimeIs?: TimeIs | undefined;
	/** Memory limit of DuckDB in bytes. */
	readonly memory: number;
	readonly threads?: number | undefined;
	/** Whether an existing dataset may be replaced; true by default. */
	readonly replace?: boolean;
	/** The processes that share the work; all see the folder of the dataset. One by default. */
	readonly communicator?: Communicator | undefined;
	/** Called at the start of each stage. */
	readonly onStage?: (stage: string, store: Store) => void;
}

/** A vocabulary that a dataset shall have. */
export interface KnownVocabulary {
	readonly vocabulary: Vocabulary;
	/** The manifest of the dataset that it comes from. */
	readonly manifest: Manifest;
}

export const prepareDefaults: PrepareOptions = {
	minRecords: 2,
	minCount: 5,
	splitSeed: 0,
	splitParts: usualParts,
	dedup: "none",
	maxRecords: null,
	keep: "last",
	values: null,
	codes: "phecode",
	get map() {
		return builtInMap();
	},
	unmapped: "drop",
	drugs: "labels",
	deathToken: false,
	labels: [],
	memory: 2 * 1024 ** 3,
};
