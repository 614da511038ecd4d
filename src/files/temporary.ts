import { readdirSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { errorCode } from "../base/system-errors.js";

/** Whether a process with this number runs on this host, and is not this one. */
export function isOtherProcess(id: number): boolean {
	if (id === process.pid) return false;
	try {
		return process.kill(id, 0);
	} catch (error) {
		return errorCode(error) === "EPERM";
	}
}

/** Where this process writes what then takes the place of a file or a folder. */
export const temporaryName = (place: string): string => `${place}.tmp-${process.pid}`;

/** Removes a file or a whole folder; threads that still write to it are waited for a little. */
export const removeAll = (path: string): void =>
	rmSync(path, { recursive: true, force: true, maxRetries: 5 });

/** Removes what this process, and those that are gone, wrote beside a place. */
export function removeAbandoned(place: string, remove: (path: string) => void = removeAll): void {
	const prefix = temporaryName(basename(place)).replace(/\d+$/, "");
	for (const name of readdirSync(dirname(place))) {
		const writer = name.startsWith(prefix) ? name.slice(prefix.length) : "";
		if (/^\d+$/.test(writer) && !isOtherProcess(Number(writer))) remove(join(dirname(place), name));
	}
}
