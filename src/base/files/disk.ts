import {
	closeSync,
	fsyncSync,
	mkdirSync,
	openSync,
	readdirSync,
	renameSync,
	rmSync,
	writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { errorCode } from "../system-errors.js";

/** The operations that change a disk, as an interface, so that a test can stop between any two of them. */
export interface Disk {
	makeFolder(path: string): void;
	/** Returns when the whole file is on the device. */
	writeFile(path: string, chunks: readonly Uint8Array[]): void;
	/** Returns when the names in the folder are on the device. */
	syncFolder(path: string): void;
	rename(from: string, to: string): void;
	/** Removes a file or a whole folder, if it exists. */
	remove(path: string): void;
}

export const disk: Disk = {
	makeFolder: (path) => {
		mkdirSync(path, { recursive: true });
	},
	writeFile: (path, chunks) => {
		const file = openSync(path, "w");
		try {
			for (const chunk of chunks) writeFully(file, chunk);
			fsyncSync(file);
		} finally {
			closeSync(file);
		}
	},
	syncFolder,
	rename: renameSync,
	remove: (path) => rmSync(path, { recursive: true, force: true }),
};

/** One system call may write only a part. */
export function writeFully(file: number, bytes: Uint8Array): void {
	for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
}

/** Returns when the names in the folder are on the device: a rename survives a power cut only then. */
export function syncFolder(path: string): void {
	if (process.platform === "win32") return; // a folder cannot be opened there
	const folder = openSync(path, "r");
	try {
		fsyncSync(folder);
	} catch (error) {
		if (errorCode(error) !== "EINVAL") throw error; // some network file systems have no such call
	} finally {
		closeSync(folder);
	}
}

/** Whether another process with this number runs on this host. */
export function isOtherProcess(id: number): boolean {
	if (id === process.pid) return false;
	try {
		return process.kill(id, 0);
	} catch (error) {
		return errorCode(error) === "EPERM";
	}
}

/** The temporary path at which this process writes a file or folder before renaming it. */
export const temporaryName = (place: string): string => `${place}.tmp-${process.pid}`;

/** Removes a file or a whole folder; retries shortly while threads still write to it. */
export const removeAll = (path: string): void =>
	rmSync(path, { recursive: true, force: true, maxRetries: 5 });

/** Removes the temporary files of this process, and of processes that have ended. */
export function removeAbandoned(place: string, remove: (path: string) => void = removeAll): void {
	const prefix = temporaryName(basename(place)).replace(/\d+$/, "");
	for (const name of readdirSync(dirname(place))) {
		const writer = name.startsWith(prefix) ? name.slice(prefix.length) : "";
		if (/^\d+$/.test(writer) && !isOtherProcess(Number(writer))) remove(join(dirname(place), name));
	}
}
