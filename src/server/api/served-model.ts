import type { CodeMap } from "../../codes/index.js";
import type { Trained } from "../../train/index.js";

/** What the service answers with. */
export interface ServedModel
	extends Pick<Trained, "model" | "config" | "weights" | "manifest" | "vocabulary"> {
	readonly step: number;
	readonly versions: Readonly<Record<string, string>>;
	/** The dataset's, where it is at hand. */
	readonly map: CodeMap | undefined;
}
