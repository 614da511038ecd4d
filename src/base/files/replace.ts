import { closeSync, existsSync, fsyncSync, openSync, readdirSync, renameSync } from "node:fs";
import { mkdir, readdir, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join, sep } from "node:path";
import { InputError } from "../errors.js";
import { errorCode, systemRefusal } from "../system-errors.js";
import { removeAbandoned, removeAll, syncFolder, temporaryName } from "./disk.js";
import { holdingLock } from "./process-lock.js";

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

/** The prefix of temporary names: hidden, and next to the target, so that a rename stays on one file system. */
const hidden = (target: string) => join(dirname(target), `.${basename(target)}`);

const stopSignals = { SIGINT: 130, SIGTERM: 143 };

/** Removes `path` when the work ends, also by Ctrl-C or a scheduler's SIGTERM. */
export async function temporarily<T>(path: string, work: () => Promise<T>): Promise<T> {
	const clean = () => removeAll(path);
	const stops = Object.entries(stopSignals).map(([signal, code]) => {
		const stop = () => {
			// Other listeners decide when the process ends.
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

/** Calls `write` with a temporary path next to the target, and removes it afterwards. */
async function writeTemporary(
	target: string,
	write: (partial: string) => Promise<void>,
): Promise<void> {
	removeAbandoned(hidden(target));
	const partial = temporaryName(hidden(target));
	await temporarily(partial, () => write(partial));
}

/** Returns when a file's content is on the device. */
function syncFile(path: string): void {
	const handle = openSync(path, "r+");
	try {
		fsyncSync(handle);
	} finally {
		closeSync(handle);
	}
}

/** Returns when a folder and all in it are on the device. */
function syncTree(folder: string): void {
	for (const entry of readdirSync(folder, { withFileTypes: true })) {
		const path = join(folder, entry.name);
		if (entry.isDirectory()) syncTree(path);
		else syncFile(path);
	}
	syncFolder(folder);
}

/** Rejects a file that exists and may not be replaced; call it before long work. */
export async function checkFileTarget(target: string, force: boolean): Promise<void> {
	await guarded(target, async () => {
		if (!(await exists(target))) return;
		if ((await stat(target)).isDirectory())
			throw new InputError(`${target} is a folder; expected a file name to write to`);
		if (!force)
			throw new InputError(`${target} already exists; choose another name, or pass \`replace\``, {
				field: "replace",
			});
	});
}

/** Files that operating systems create in folders. */
const bySystem = /^(\.DS_Store|\.nfs.*|Thumbs\.db)$/;

const isOwn = (path: string, ownNames: readonly string[]) =>
	bySystem.test(basename(path)) ||
	ownNames.some(
		(known) =>
			known === path ||
			known.startsWith(`${path}/`) ||
			(known.endsWith("/") && path.startsWith(known)),
	);

/**
 * Rejects a folder that exists and may not be replaced. Even with `force`, a folder without the file `marker` is
 * kept: it holds something else. So is a folder with a file that is not one of `own`: paths with slashes, or folders
 * with a slash at the end for all that is in them.
 */
export async function checkFolderTarget(
	target: string,
	force: boolean,
	marker: string,
	ownNames: readonly string[],
): Promise<void> {
	await guarded(target, async () => {
		if (!(await exists(target))) return;
		if (!(await stat(target)).isDirectory())
			throw new InputError(`${target} is a file; expected a folder to write to`);
		if (!force)
			throw new InputError(`${target} already exists; choose another folder, or pass \`replace\``, {
				field: "replace",
			});
		const entries = await readdir(target, { recursive: true });
		if (entries.length > 0 && !(await exists(join(target, marker))))
			throw new InputError(
				`${target} holds files but no ${marker}, so \`replace\` will not replace it; choose another folder`,
			);
		const foreign = entries
			.map((path) => path.split(sep).join("/"))
			.find((path) => !isOwn(path, [marker.split(sep).join("/"), ...ownNames]));
		if (foreign !== undefined)
			throw new InputError(
				`${target} holds ${foreign}, which \`replace\` would remove; move it away, or choose another folder`,
			);
	});
}

/** Writes a temporary file next to its target and renames it: the target is complete or unchanged. */
export async function replaceFile(
	target: string,
	write: (path: string) => Promise<void>,
): Promise<void> {
	await guarded(target, async () => {
		await mkdir(dirname(target), { recursive: true });
		await writeTemporary(target, async (partial) => {
			await write(partial);
			syncFile(partial);
			renameSync(partial, target);
			syncFolder(dirname(target));
		});
	});
}

/** Rejects a target that cannot be written; call it before long work. */
export async function checkWritable(target: string): Promise<void> {
	await guarded(target, async () => {
		await mkdir(dirname(target), { recursive: true });
		await writeTemporary(target, (partial) => writeFile(partial, ""));
	});
}

export interface ReplaceFolderOptions {
	/** Whether an existing folder may be replaced; an empty one always may. */
	readonly replace?: boolean;
}

/**
 * Writes a temporary folder next to its target and renames it: the target is complete or unchanged. While one
 * process writes it, others are rejected.
 */
export async function replaceFolder(
	target: string,
	write: (folder: string) => Promise<void>,
	{ replace = true }: ReplaceFolderOptions = {},
): Promise<void> {
	await guarded(target, async () => {
		await mkdir(dirname(target), { recursive: true });
		await holdingLock(`${hidden(target)}.lock`, `writing ${target}`, async () => {
			// Another process may have finished between the caller's check and the lock.
			const check = () => {
				if (!replace && existsSync(target) && readdirSync(target).length > 0)
					throw new InputError(
						`${target} was written by another process meanwhile; choose another folder, or pass \`replace\``,
					);
			};
			check();
			await writeTemporary(target, async (partial) => {
				await mkdir(partial);
				await write(partial);
				syncTree(partial);
				check();
				swap(partial, target);
			});
		});
	});
}

/** Synchronous, so that no signal is handled while the target is moved. */
function swap(partial: string, target: string): void {
	const aside = `${hidden(target)}.previous`;
	const previous = temporaryName(aside);
	const replacing = existsSync(target);
	if (replacing) renameSync(target, previous);
	try {
		renameSync(partial, target);
	} catch (error) {
		if (replacing) renameSync(previous, target);
		throw error;
	}
	syncFolder(dirname(target));
	// Not before: a process killed between the two renames leaves the only copy there.
	removeAbandoned(aside);
}
