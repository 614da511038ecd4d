import type { Dataset } from "../data/cohort/index.js";
import type { Trained } from "../model/train/index.js";

/** Whether a dataset is another than the one that a run has learned from. */
export const isExternal = ({ run }: Pick<Trained, "run">, { manifest }: Dataset): boolean =>
	run.dataset.contentHash !== manifest.contentHash;
