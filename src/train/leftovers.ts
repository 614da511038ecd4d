import { readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { errorCode } from "../base/system-errors.js";
import { type Disk, disk } from "./durable-files.js";

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
export const besideName = (place: string): string => `${place}.tmp-${process.pid}`;

/** Removes what processes that are gone wrote beside a place. */
export function removeLeftovers(place: string, on: Disk = disk): void {
	const prefix = besideName(basename(place)).replace(/\d+$/, "");
	for (const name of readdirSync(dirname(place))) {
		const writer = name.startsWith(prefix) ? name.slice(prefix.length) : "";
		if (/^\d+$/.test(writer) && !isOtherProcess(Number(writer)))
			on.remove(join(dirname(place), name));
	}
}
