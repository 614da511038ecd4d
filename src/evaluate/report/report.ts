import type { DatasetSummary, Manifest, Split } from "../../data/cohort/index.js";
import type { MemoryByCategory } from "../../predict/index.js";
import type { PatientMap, TokenMap } from "../charts/maps/map-figures.js";
import type { NeighbourAgreement } from "../charts/maps/umap.js";
import type { LearningEvent } from "../charts/model-figures.js";
import type { OnsetStory } from "../charts/onset/stories-figure.js";
import type { RiskPicture } from "../charts/risk/picture.js";
import type { DiseaseTrajectory } from "../charts/trajectory-figure.js";
import type { Evaluation } from "../evaluation.js";

/** What a report is about. Its sections derive words, tables and figures from it. */
export interface Report {
	readonly name: string;
	readonly model: { readonly name: string; readonly cite: string; readonly parameters: number };
	readonly simulated: boolean;
	readonly manifest: Manifest;
	readonly summary: DatasetSummary;
	readonly split: Split;
	readonly evaluations: readonly Evaluation[];
	/** Missing evaluations, and the commands that compute them. */
	readonly missing: readonly {
		readonly task: string;
		readonly what: string;
		readonly command: string;
	}[];
	/** Warnings on evaluations: other weights, or not all test patients. */
	readonly warnings: readonly string[];
	/** Two people before a diagnosis; undefined without hazards, or with too few cases. */
	readonly onsetPair?:
		| {
				readonly rule: string;
				readonly target: string;
				readonly horizonDays: number;
				readonly people: readonly OnsetStory[];
		  }
		| undefined;
	readonly stories: {
		readonly rule: string;
		readonly patients: readonly {
			readonly trainedOn: boolean;
			readonly target: string;
			readonly trajectory: DiseaseTrajectory;
			/** Until the target was first recorded; undefined if the model has learned no hazards. */
			readonly risk?: RiskPicture | undefined;
		}[];
	};
	/** A map of the codes, and how often the nearest codes share a category. */
	readonly codes: {
		readonly map: TokenMap;
		readonly agreement: NeighbourAgreement | undefined;
	};
	/** A map of patients drawn from `of`, and how often the nearest patients have the same sex. */
	readonly patientMap?:
		| {
				readonly map: PatientMap;
				readonly of: number;
				readonly agreement: NeighbourAgreement | undefined;
		  }
		| undefined;
	/** The half-lives of the heads, averaged over the records of some of the test patients. */
	readonly memory?: (MemoryByCategory & { readonly patients: string }) | undefined;
	readonly log: readonly LearningEvent[];
	/** Names and values, in groups. */
	readonly provenance: readonly {
		readonly title: string;
		readonly facts: readonly (readonly [name: string, value: string])[];
	}[];
}
