import type { Checkpoint } from "./checkpoint.js";
import { type TrainOptions, trainOptions } from "./options.js";
import { differences, type Run } from "./run-folder.js";

/** What a checkpoint's state says of the run it belongs to. */
export interface SavedSettings {
	readonly options: TrainOptions;
	readonly dataset: Run["dataset"];
}

/** `name run's → checkpoint's` for each setting in which a run and a checkpoint differ. */
export function settingsThatDiffer(
	{ model, config, state }: Checkpoint,
	run: Pick<Run, "model" | "config" | "options" | "dataset">,
): string[] {
	const { options, dataset } = (state ?? {}) as Partial<SavedSettings>;
	return [
		...differences({ model: run.model }, { model }),
		...differences(run.config, (config ?? {}) as Record<string, unknown>),
		...differences(run.options, withDefaults(options)),
		...differences(run.dataset, dataset ?? {}),
	];
}

/** For each tensor that is missing, too many or of another shape than expected: what is wrong, in words. */
export function tensorMismatches(
	tensors: ReadonlyMap<string, { readonly shape: readonly number[] }>,
	expected: ReadonlyMap<string, { readonly shape: readonly number[] }>,
): string[] {
	const found = [...tensors.keys()]
		.filter((name) => !expected.has(name))
		.map((name) => `it holds ${name}, which this model has not`);
	for (const [name, { shape }] of expected) {
		const own = tensors.get(name)?.shape;
		if (String(own) !== String(shape))
			found.push(
				`${name} is ${own ? `[${own.join(", ")}]` : "missing"}, expected [${shape.join(", ")}]`,
			);
	}
	return found;
}

/** Saved options, with the defaults of those that came later. */
const withDefaults = (options: TrainOptions | undefined): Record<string, unknown> =>
	options ? (trainOptions.safeParse(options).data ?? options) : {};
