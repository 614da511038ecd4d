import { existsSync } from "node:fs";
import { InputError } from "../../base/errors.js";
import { type Checkpoint, hasCheckpoint, readCheckpoint } from "./checkpoint.js";
import { type LogEvent, readEventLog } from "./event-log.js";
import { type TrainOptions, trainOptions } from "./options.js";
import { differences, type Run, runFiles } from "./run-folder.js";

/** What a checkpoint's state says of the run it belongs to. */
interface SavedSettings {
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

/** Where a run stands between two steps; plain JSON. */
export interface Position {
	readonly step: number;
	readonly epoch: number;
	readonly stepInEpoch: number;
	readonly best: Best | null;
	readonly finished: boolean;
}

/** What a checkpoint holds beside tensors: where it stands, and what run it belongs to. */
export interface SavedState extends SavedSettings {
	readonly position: Position;
}

export interface Best {
	readonly epoch: number;
	readonly step: number;
	readonly loss: number;
	readonly losses: Readonly<Record<string, number>>;
}

/**
 * Whether an event of the log came before the checkpoint at a position. One written when validation
 * was cut short has the last step of its epoch, but not the validation that follows it.
 */
export const wasSaved =
	(at: Position) =>
	({ step, epoch, valid }: LogEvent): boolean =>
		step <= at.step && (valid === undefined || (epoch as number) <= at.epoch);

/** Whether the run, or the fine-tuning, in a folder has come to its end. */
export function isTrained(folder: string): boolean {
	const { checkpoint } = runFiles(folder);
	if (!hasCheckpoint(checkpoint)) return false;
	return (readCheckpoint(checkpoint).state as SavedState).position.finished;
}

/** Steps that a run has behind it and would not do again. */
export function stepsDone(folder: string): number {
	const { checkpoint } = runFiles(folder);
	return hasCheckpoint(checkpoint) ? readCheckpoint(checkpoint).step : 0;
}

/** The checkpoint to go on from; none if the run died before its first, and so before its first step. */
export function lastCheckpoint(files: ReturnType<typeof runFiles>): Checkpoint | undefined {
	const logged = existsSync(files.log) && readEventLog(files.log).length > 0;
	return hasCheckpoint(files.checkpoint) || logged ? readCheckpoint(files.checkpoint) : undefined;
}

/** Refuses the checkpoint of another run, and tensors of other sizes; nothing is overwritten. */
export function checkSameRun(
	checkpoint: Checkpoint,
	run: Pick<Run, "model" | "config" | "options" | "dataset">,
	expected: ReadonlyMap<string, { readonly shape: readonly number[] }>,
	where: string,
): void {
	const found = [
		...settingsThatDiffer(checkpoint, run),
		...tensorMismatches(checkpoint.tensors, expected).slice(0, 1),
	];
	if (found.length > 0)
		throw new InputError(
			`${where} does not belong to this run: ${found.join(", ")}; restore the run's own checkpoint, or start a new run`,
		);
}
