import type { Communicator } from "../../base/communicator.js";
import { builtInMap, type CodeMap } from "../codes/index.js";
import type { TimeIs } from "../records/rows.js";
import type { RecordSource, Store } from "../records/store.js";
import type { Filters, Manifest } from "./manifest.js";
import { type SplitParts, usualParts } from "./people.js";
import type { CodeRules } from "./reading/rules.js";
import type { UserLabels } from "./user-labels.js";
import type { Vocabulary } from "./vocabulary.js";

export interface PrepareOptions extends Filters, CodeRules {
	/** Label rules always use PheCodes, so the map is required. */
	readonly map: CodeMap;
	/** Into how many ranges the values of each code are divided, each with a token; null: values are not used. */
	readonly values: number | null;
	readonly splitSeed: number;
	readonly splitParts: SplitParts;
	/** A file with the splits of patients: CSV or Parquet. */
	readonly splitsFrom?: string | undefined;
	/** Whether to leave out rows that cannot be read; if not, the first is refused. */
	readonly skipBad?: boolean | undefined;
	/** The vocabulary of another dataset, which is kept as it is, and the manifest of that dataset. */
	readonly like?: { readonly vocabulary: Vocabulary; readonly manifest: Manifest } | undefined;
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

/** What the stages of a preparation share. They add to the notes and the warnings. */
export interface Preparation {
	readonly store: Store;
	readonly source: RecordSource;
	readonly options: PrepareOptions;
	readonly stage: (name: string) => void;
	readonly notes: string[];
	readonly warnings: string[];
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
