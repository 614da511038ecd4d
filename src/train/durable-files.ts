import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from "node:fs";

/** What changes a disk, as an interface, so that a test can stop the work between any two steps. */
export interface Disk {
	makeFolder(path: string): void;
	/** Returns when the whole file is on the device. */
	writeFile(path: string, chunks: readonly Uint8Array[]): void;
	/** Returns when the names in the folder are on the device. */
	syncFolder(path: string): void;
	rename(from: string, to: string): void;
	/** Removes a file or a whole folder; what is not there is no error. */
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
	syncFolder: (path) => {
		if (process.platform === "win32") return; // a folder cannot be opened there
		const folder = openSync(path, "r");
		try {
			fsyncSync(folder);
		} catch (error) {
			if (errorCode(error) !== "EINVAL") throw error; // some network file systems have no such call
		} finally {
			closeSync(folder);
		}
	},
	rename: renameSync,
	remove: (path) => rmSync(path, { recursive: true, force: true }),
};

/** One call of the system may take only a part. */
export function writeFully(file: number, bytes: Uint8Array): void {
	for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
}

export function errorCode(error: unknown): string | undefined {
	const code = (error as { code?: unknown } | null)?.code;
	return typeof code === "string" ? code : undefined;
}

const reasons: Readonly<Record<string, readonly [reason: string, advice: string]>> = {
	ENOSPC: ["no space is left on the device", "free some space or choose another folder"],
	EDQUOT: ["the disk quota is used up", "free some space or choose another folder"],
	EACCES: ["permission denied", "allow this user to use it or choose another folder"],
	EPERM: ["permission denied", "allow this user to use it or choose another folder"],
	EROFS: ["the file system is read-only", "choose a folder that can be written"],
	ENOTDIR: ["a part of the path is a file, not a folder", "choose another folder"],
	ENOENT: ["there is no such file or folder", "check the path"],
};

/** What the system said, where, and what to do about it. */
export function explainSystemError(error: unknown): string {
	const code = errorCode(error);
	const path = (error as { path?: unknown } | null)?.path;
	const at = typeof path === "string" ? ` at ${path}` : "";
	const known = code === undefined ? undefined : reasons[code];
	if (known) return `${known[0]}${at} (${code}); ${known[1]}`;
	return error instanceof Error ? error.message : String(error);
}
