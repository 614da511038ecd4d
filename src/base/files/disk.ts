import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { syncFolder } from "./sync-folder.js";

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
