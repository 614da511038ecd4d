import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { hostname } from "node:os";
import { z } from "zod";
import { InputError } from "../base/errors.js";
import { errorCode, explainError } from "../base/system-errors.js";
import { isOtherProcess } from "../cohort/leftovers.js";
import { disk, writeFully } from "./durable-files.js";
import { runFiles } from "./run-folder.js";

const holderSchema = z.object({ pid: z.int().min(1), host: z.string() });

/** Does some work on a run that no other process may do at the same time. */
export async function holdingRun<T>(folder: string, work: () => Promise<T>): Promise<T> {
	const file = runFiles(folder).lock;
	const own = JSON.stringify({ pid: process.pid, host: hostname() });
	try {
		mkdirSync(folder, { recursive: true });
		take(file, own);
	} catch (error) {
		if (error instanceof InputError) throw error;
		throw new InputError(`cannot write ${file}: ${explainError(error)}`, { cause: error });
	}
	try {
		return await work();
	} finally {
		if (readText(file) === own) disk.remove(file);
	}
}

function take(file: string, own: string): void {
	for (;;) {
		create(file, own);
		// Another process that found the same dead lock may have replaced it since.
		if (readText(file) === own) return;
		refuseWhileHeld(file);
		disk.remove(file);
	}
}

/** Does nothing where the file is there already. */
function create(file: string, text: string): void {
	let handle: number;
	try {
		handle = openSync(file, "wx");
	} catch (error) {
		if (errorCode(error) === "EEXIST") return;
		throw error;
	}
	try {
		writeFully(handle, new TextEncoder().encode(text));
	} finally {
		closeSync(handle);
	}
}

function refuseWhileHeld(file: string): void {
	const holder = holderOf(file);
	if (!holder) return;
	const { pid, host } = holder;
	const here = host === hostname();
	if (here && !isOtherProcess(pid)) return;
	throw new InputError(
		`process ${pid}${here ? "" : ` on ${host}`} is at work on this run (${file}); ` +
			"wait for it or stop it; if it has ended, remove that file",
	);
}

/** Undefined also where a process died before it had written who it is. */
function holderOf(file: string): z.infer<typeof holderSchema> | undefined {
	try {
		return holderSchema.parse(JSON.parse(readText(file)));
	} catch {
		return undefined;
	}
}

function readText(file: string): string {
	try {
		return readFileSync(file, "utf8");
	} catch (error) {
		if (errorCode(error) === "ENOENT") return "";
		throw error;
	}
}
