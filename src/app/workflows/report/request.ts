import type { Dataset, Split } from "../../../data/cohort/index.js";
import type { Runtime } from "../../../engine/runtime/index.js";
import type { Figure } from "../../../evaluate/charts/index.js";
import type { DrawnFigure } from "../../../evaluate/report/index.js";
import type { Trained } from "../../../model/train/index.js";

/** The same figure for telephones, and for one of two columns. */
interface OtherSizes {
	readonly narrow?: Figure;
	readonly half?: Figure;
}

/** Draws figures for the page and writes them to a folder. */
export interface Drawings {
	draw(id: string, figure: Figure, caption: string, others?: OtherSizes): Promise<DrawnFigure>;
	/** Files written so far. */
	readonly files: readonly string[];
}

/** What a report is made from. */
export interface ReportRequest {
	readonly trained: Trained;
	readonly dataset: Dataset;
	readonly runtime: Runtime;
	readonly drawings: Drawings;
	readonly seed: number;
	/** Ids of the patients to show; chosen by rule by default. */
	readonly patients?: readonly string[];
	/** Whether to draw a map with one mark per patient even if they are not simulated. */
	readonly patientMap?: boolean;
	/** Called with the name of each stage. */
	readonly onStage: (text: string) => void;
}

/** The patients that the report is about. */
export const reportedSplit: Split = "test";
