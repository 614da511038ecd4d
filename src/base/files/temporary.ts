import { readdirSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { errorCode } from "../system-errors.js";

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
