import { closeSync, existsSync, openSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { InputError } from "../../base/errors.js";
import { disk, removeAbandoned, temporaryName, writeFully } from "../../base/files/index.js";
import { explainError } from "../../base/system-errors.js";

/** One line of `log.jsonl`. */
export interface LogEvent {
	readonly step: number;
	readonly [field: string]: unknown;
}

/**
 * Opens a log to append to. With `keep` it goes on with what is there, less the events that are not
 * kept: those the interrupted run wrote after its last checkpoint. Without it the log must be new.
 */
export function openEventLog(file: string, { keep }: { keep?: (event: LogEvent) => boolean } = {}) {
	if (keep) keepOnly(file, keep);
	else if (existsSync(file) && readFileSync(file).length > 0)
		throw new InputError(
			`will not write to ${file}: it holds the log of another run; ` +
				"pass `resume` to go on with that run, or choose another folder",
		);
	const handle = guard(file, () => openSync(file, "a"));
	return {
		/** The line is with the system when this returns: it survives the death of the process. */
		append(event: LogEvent): void {
			const line = `${JSON.stringify(event, spellNonFinite)}\n`;
			guard(file, () => writeFully(handle, new TextEncoder().encode(line)));
		},
		close: () => closeSync(handle),
	};
}

/** A last line without its end, left by a process that died while writing, is not an event. */
export function readEventLog(file: string): LogEvent[] {
	return readLines(file).lines.map(({ event }) => event);
}

function keepOnly(file: string, keep: (event: LogEvent) => boolean) {
	if (!existsSync(file)) return;
	guard(file, () => removeAbandoned(file));
	const { lines, text } = readLines(file);
	const kept = lines.filter(({ event }) => keep(event)).map(({ line }) => `${line}\n`);
	const wanted = kept.join("");
	if (wanted === text) return;
	const beside = temporaryName(file);
	guard(file, () => {
		disk.writeFile(beside, [new TextEncoder().encode(wanted)]);
		disk.rename(beside, file);
		disk.syncFolder(dirname(file));
	});
}

function readLines(file: string) {
	const text = guard(file, () => readFileSync(file, "utf8"), "read");
	const parts = text.split("\n");
	const torn = parts.pop() as string;
	const lines = parts.map((line, index) => {
		const event = parseEvent(line);
		if (event) return { line, event };
		throw new InputError(
			`cannot read ${file}: line ${index + 1} is not a JSON object with a step; ` +
				"it is damaged or not a log of trajgpt; remove the line",
		);
	});
	const last = parseEvent(torn); // only the line end is missing
	if (last) lines.push({ line: torn, event: last });
	return { lines, text };
}

function parseEvent(line: string): LogEvent | undefined {
	try {
		const event = JSON.parse(line);
		return typeof event?.step === "number" ? event : undefined;
	} catch {
		return undefined;
	}
}

/** JSON would turn them into null; a log should say what the loss became. */
function spellNonFinite(_key: string, value: unknown): unknown {
	return typeof value === "number" && !Number.isFinite(value) ? String(value) : value;
}

function guard<T>(file: string, action: () => T, verb = "write"): T {
	try {
		return action();
	} catch (error) {
		throw new InputError(`cannot ${verb} the log ${file}: ${explainError(error)}`, {
			cause: error,
		});
	}
}
