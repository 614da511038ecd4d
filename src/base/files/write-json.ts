import { dirname } from "node:path";
import { disk } from "./disk.js";

/** Replaces a JSON file as a whole: after a crash it holds the earlier value or the new one. */
export function writeJson(file: string, value: unknown, indent?: number): void {
	const partial = `${file}.tmp`;
	const text = `${JSON.stringify(value, null, indent)}\n`;
	disk.writeFile(partial, [new TextEncoder().encode(text)]);
	disk.rename(partial, file);
	disk.syncFolder(dirname(file));
}
