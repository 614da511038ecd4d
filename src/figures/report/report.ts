import type { DatasetSummary, Manifest, Split } from "../../cohort/index.js";
import type { Evaluation } from "../../evaluate/evaluation.js";
import type { NeighbourAgreement } from "../maps/neighbour-agreement.js";

/** A figure as it goes into the page. */
export interface DrawnFigure {
	/** For links to it. */
	readonly id: string;
	/** Of the figure, short. */
	readonly title: string;
	readonly svg: string;
	/** Below it: how to read it. */
	readonly caption: string;
}

export interface PatientStory {
	readonly id: string;
	/** Of the disease the story is about. */
	readonly target: string;
	/** Of the events after the look-up window, how many, and how many were foreseen. */
	readonly later: number;
	readonly foreseen: number;
	readonly lookUp: number;
	/** When the disease was first recorded, in words; undefined if it never was. */
	readonly recorded: string | undefined;
	/** The model's risk at the first record known, and just before the disease was recorded. */
	readonly risk: { readonly first: number; readonly last: number };
	readonly trajectory: DrawnFigure;
	readonly riskCurve: DrawnFigure;
}

/** A head that remembers least or most, by the median over categories. */
export interface HeadInWords {
	readonly layer: number;
	readonly head: number;
	readonly halfLife: number;
}

/** An evaluation that the run does not have, and what makes it. */
export interface MissingEvaluation {
	readonly task: string;
	readonly what: string;
	readonly command: string;
}

/** Everything a report says; nothing is looked up on the way to the page. */
export interface Report {
	/** What the run is called. */
	readonly name: string;
	readonly model: { readonly name: string; readonly cite: string; readonly parameters: number };
	/** Whether the people are those of our simulator. */
	readonly simulated: boolean;
	readonly manifest: Manifest;
	readonly summary: DatasetSummary;
	/** On which the evaluations were made. */
	readonly split: Split;
	readonly evaluations: readonly Evaluation[];
	readonly missing: readonly MissingEvaluation[];
	/** What else the reader must be told of the evaluations: other weights, or not all of the test patients. */
	readonly warnings: readonly string[];
	readonly figures: {
		readonly dataset: DrawnFigure;
		readonly recall?: DrawnFigure;
		readonly calibration?: DrawnFigure;
		readonly tokens: DrawnFigure;
		readonly patients?: DrawnFigure;
		readonly memory?: DrawnFigure;
		readonly learning?: DrawnFigure;
	};
	readonly stories: {
		/** How they were chosen. */
		readonly rule: string;
		readonly patients: readonly PatientStory[];
	};
	readonly agreement: NeighbourAgreement | undefined;
	readonly memory:
		| {
				readonly shortest: HeadInWords;
				readonly longest: HeadInWords;
				readonly unit: "days" | "events";
		  }
		| undefined;
	/** Names and values, in groups. */
	readonly provenance: readonly {
		readonly title: string;
		readonly facts: readonly (readonly [name: string, value: string])[];
	}[];
}
