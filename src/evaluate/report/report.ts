import type { DatasetSummary, Manifest, Split } from "../../data/cohort/index.js";
import type { NeighbourAgreement } from "../charts/maps/umap.js";
import type { extremeHeads } from "../charts/model-figures.js";
import type { Evaluation } from "../evaluation.js";

export interface DrawnFigure {
	readonly id: string;
	readonly title: string;
	readonly svg: string;
	/** Whether it fits one of two columns. */
	readonly half?: boolean;
	/** The same for telephones; undefined if there is none. */
	readonly narrow?: string | undefined;
	readonly caption: string;
}

export interface PatientStory {
	readonly id: string;
	readonly trainedOn: boolean;
	readonly target: string;
	/** Number of events after the look-up window; `foreseen` counts those predicted. */
	readonly later: number;
	readonly foreseen: number;
	readonly lookUp: number;
	/** When the disease was first recorded; undefined if never. */
	readonly recorded: string | undefined;
	/** The predicted risk within some years at the first record, and just before the disease was recorded. */
	readonly risk?:
		| { readonly first: number; readonly last: number; readonly horizon: string }
		| undefined;
	readonly trajectory: DrawnFigure;
	/** Undefined if the model has learned no hazards. */
	readonly riskCurve?: DrawnFigure | undefined;
}

/** A person before a diagnosis, as the text of the page tells it. */
export interface OnsetPerson {
	readonly id: string;
	readonly sex: "female" | "male" | null;
	readonly target: string;
	/** In years, at the first record; undefined if the birth is unknown. */
	readonly age: number | undefined;
	/** The predicted risk one year before. */
	readonly risk: number;
	/** The same of people of this age and sex. */
	readonly peers: number | undefined;
	/** The same by the simulator. */
	readonly truth: number | undefined;
}

/** A missing evaluation, and the command that computes it. */
export interface MissingEvaluation {
	readonly task: string;
	readonly what: string;
	readonly command: string;
}

type OptionalFigure =
	| "onsetCalibration"
	| "byFifth"
	| "decisions"
	| "codeScores"
	| "recall"
	| "calibration"
	| "patients"
	| "memory"
	| "learning";

/** A head with the shortest or longest memory. */
export type HeadInWords = ReturnType<typeof extremeHeads>[number];

export interface Report {
	readonly name: string;
	readonly model: { readonly name: string; readonly cite: string; readonly parameters: number };
	readonly simulated: boolean;
	readonly manifest: Manifest;
	readonly summary: DatasetSummary;
	readonly split: Split;
	readonly evaluations: readonly Evaluation[];
	readonly missing: readonly MissingEvaluation[];
	/** Warnings on evaluations: other weights, or not all test patients. */
	readonly warnings: readonly string[];
	/** Two people before a diagnosis; undefined without hazards, or with too few cases. */
	readonly onsetPair?:
		| {
				readonly rule: string;
				readonly horizon: string;
				readonly people: readonly OnsetPerson[];
				readonly figure: DrawnFigure;
		  }
		| undefined;
	readonly figures: Readonly<
		Record<"dataset" | "tokens", DrawnFigure> &
			Partial<Record<OptionalFigure, DrawnFigure | undefined>>
	>;
	readonly stories: {
		readonly rule: string;
		readonly patients: readonly PatientStory[];
	};
	/** How often the nearest codes share a category, and the nearest patients their sex. */
	readonly agreement: {
		readonly codes: NeighbourAgreement | undefined;
		readonly patients: NeighbourAgreement | undefined;
	};
	readonly memory:
		| (Record<"shortest" | "longest", HeadInWords> & { readonly unit: "days" | "events" })
		| undefined;
	/** Names and values, in groups. */
	readonly provenance: readonly {
		readonly title: string;
		readonly facts: readonly (readonly [name: string, value: string])[];
	}[];
}

/** What sections on evaluations are made of. */
export interface Evaluated extends Pick<Report, "evaluations"> {
	readonly figures: Partial<Report["figures"]>;
}
