import { existsSync, renameSync } from "node:fs";
import { mkdir, readdir, rename, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { InputError } from "../base/errors.js";
import { errorCode, systemRefusal } from "../base/system-errors.js";
import { besideName, removeAll, removeLeftovers } from "./leftovers.js";

async function exists(path: string): Promise<boolean> {
	try {
		await stat(path);
		return true;
	} catch (error) {
		if (errorCode(error) === "ENOENT") return false;
		throw error;
	}
}

async function guarded(target: string, work: () => Promise<void>): Promise<void> {
	try {
		await work();
	} catch (error) {
		const reason = systemRefusal(error);
		if (reason) throw new InputError(`cannot write ${target}: ${reason}`, { cause: error });
		throw error;
	}
}

/** Its leftovers stand beside it under a hidden name, on the same file system: a rename is one step. */
const hidden = (target: string) => join(dirname(target), `.${basename(target)}`);

const stopSignals = { SIGINT: 130, SIGTERM: 143 };

/** Sees to it that `path` is gone when the work ends, be it by Ctrl-C or a scheduler's SIGTERM. */
export async function temporarily<T>(path: string, work: () => Promise<T>): Promise<T> {
	const clean = () => removeAll(path);
	const stops = Object.entries(stopSignals).map(([signal, code]) => {
		const stop = () => {
			// Whoever else listens decides when the process ends.
			if (process.listenerCount(signal) === 0) process.exit(code);
		};
		process.once(signal, stop);
		return () => process.removeListener(signal, stop);
	});
	process.once("exit", clean);
	try {
		return await work();
	} finally {
		for (const remove of stops) remove();
		process.removeListener("exit", clean);
		clean();
	}
}

/** Gives a place beside the target to write to, and leaves nothing there. */
async function writeBeside(
	target: string,
	write: (partial: string) => Promise<void>,
): Promise<void> {
	await guarded(target, async () => {
		await mkdir(dirname(target), { recursive: true });
		removeLeftovers(hidden(target));
		const partial = besideName(hidden(target));
		await temporarily(partial, () => write(partial));
	});
}

/** Throws when `target` is there and may not be replaced. Worth asking before long work begins. */
export async function checkFileTarget(target: string, force: boolean): Promise<void> {
	await guarded(target, async () => {
		if (!(await exists(target))) return;
		if ((await stat(target)).isDirectory())
			throw new InputError(`${target} is a folder; expected a file name to write to`);
		if (!force)
			throw new InputError(`${target} already exists; choose another name, or pass --force`);
	});
}

/**
 * Throws when `target` is there and may not be replaced. Even with `force`, a folder that does
 * not hold `marker` is left alone: it is something else of the user's.
 */
export async function checkFolderTarget(
	target: string,
	force: boolean,
	marker: string,
): Promise<void> {
	await guarded(target, async () => {
		if (!(await exists(target))) return;
		if (!(await stat(target)).isDirectory())
			throw new InputError(`${target} is a file; expected a folder to write to`);
		if (!force)
			throw new InputError(`${target} already exists; choose another folder, or pass --force`);
		const files = await readdir(target);
		if (files.length > 0 && !files.includes(marker))
			throw new InputError(
				`${target} holds files but no ${marker}, so --force will not replace it; choose another folder`,
			);
	});
}

/** Writes a file beside its target and renames it: the target is whole or untouched. */
export async function replaceFile(
	target: string,
	write: (path: string) => Promise<void>,
): Promise<void> {
	await writeBeside(target, async (partial) => {
		await write(partial);
		await rename(partial, target);
	});
}

/** Writes a folder beside its target and renames it: the target is whole or untouched. */
export async function replaceFolder(
	target: string,
	write: (folder: string) => Promise<void>,
): Promise<void> {
	await writeBeside(target, async (partial) => {
		await mkdir(partial);
		await write(partial);
		swap(partial, target);
	});
}

/** Synchronous, so that no signal is heard while the target is away. */
function swap(partial: string, target: string): void {
	const aside = `${hidden(target)}.previous`;
	const previous = besideName(aside);
	const replacing = existsSync(target);
	if (replacing) renameSync(target, previous);
	try {
		renameSync(partial, target);
	} catch (error) {
		if (replacing) renameSync(previous, target);
		throw error;
	}
	// Not before: a process killed between the two renames has left the only copy there.
	removeLeftovers(aside);
}
