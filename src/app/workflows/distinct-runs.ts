import { realpathSync } from "node:fs";
import { InputError } from "../../base/errors.js";
import type { Trained } from "../../model/train/index.js";

/** Refuses a run that is named twice: it would count as two training seeds. */
export function checkDistinctRuns(runs: readonly Pick<Trained, "folder">[]): void {
	if (runs.length < 2) return;
	const seen = new Set<string>();
	for (const { folder } of runs) {
		const path = realpathSync(folder);
		if (seen.has(path)) throw new InputError(`${folder} is named twice; name runs that differ`);
		seen.add(path);
	}
}
