import { simulatedText } from "../../../base/simulated.js";
import type { CodeMap } from "../../../data/codes/index.js";
import type { Trained } from "../../../model/train/index.js";

/** The model that a service serves. */
export interface ServedModel
	extends Pick<Trained, "model" | "config" | "weights" | "manifest" | "vocabulary" | "task"> {
	readonly step: number;
	readonly versions: Readonly<Record<string, string>>;
	/** The map of the dataset; undefined if it is not available. */
	readonly map: CodeMap | undefined;
	/** Whether it was trained on a simulated population. */
	readonly simulated?: boolean;
}

/** What every answer says about the people the model has learned from. */
export const populationOf = ({ simulated = false }: Pick<ServedModel, "simulated">) => ({
	simulated,
	...(simulated && { population: simulatedText }),
});
