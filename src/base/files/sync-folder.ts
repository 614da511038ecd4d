import { closeSync, fsyncSync, openSync } from "node:fs";
import { errorCode } from "../system-errors.js";

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
