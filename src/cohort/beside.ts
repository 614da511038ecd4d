import { mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { InputError } from "../base/errors.js";
import { errorCode, systemRefusal } from "../base/system-errors.js";

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

/** A name next to the target, on the same file system, so that a rename is one step. */
function besideName(target: string, what: string): string {
	return join(dirname(target), `.${basename(target)}.${what}-${process.pid}`);
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
	const partial = besideName(target, "partial");
	await guarded(target, async () => {
		await mkdir(dirname(target), { recursive: true });
		try {
			await write(partial);
			await rename(partial, target);
		} finally {
			await rm(partial, { force: true });
		}
	});
}

/** Writes a folder beside its target and renames it: the target is whole or untouched. */
export async function replaceFolder(
	target: string,
	write: (folder: string) => Promise<void>,
): Promise<void> {
	const partial = besideName(target, "partial");
	const previous = besideName(target, "previous");
	await guarded(target, async () => {
		await rm(partial, { recursive: true, force: true });
		await mkdir(partial, { recursive: true });
		try {
			await write(partial);
			const replacing = await exists(target);
			if (replacing) await rename(target, previous);
			try {
				await rename(partial, target);
			} catch (error) {
				if (replacing) await rename(previous, target);
				throw error;
			}
			await rm(previous, { recursive: true, force: true });
		} finally {
			await rm(partial, { recursive: true, force: true });
		}
	});
}
