import { type ChildProcess, spawn } from "node:child_process";
import { createWriteStream, existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { formatDuration, progress } from "../../base/progress.js";
import { explainError } from "../../base/system-errors.js";
import type { Cell } from "../../evaluate/index.js";
import { Exit, type Io } from "../io.js";
import type { Beside } from "./cell.js";
import { comparisonFiles, readCell } from "./plan.js";

export interface CellName {
	readonly id: string;
	readonly seed: number;
}

export interface Failure extends CellName {
	readonly reason: string;
}

export interface Worked {
	readonly cells: readonly Cell[];
	readonly failed: readonly Failure[];
}

/** The program as it was built, also for what runs from its source. */
function program(): string {
	const beside = fileURLToPath(new URL("../main.js", import.meta.url));
	return existsSync(beside)
		? beside
		: fileURLToPath(new URL("../../../dist/cli/main.js", import.meta.url));
}

const shownAs = ({ id, seed }: CellName) => `${id} ${seed}`;

/**
 * Works through cells, each in a process of its own: so many beside each other, with as many threads as
 * there are cores for each. What is finished is not done again; one that fails does not stop the others.
 */
export async function workThrough(
	io: Io,
	folder: string,
	cells: readonly CellName[],
	{ jobs, threads, provider }: Beside & { readonly jobs: number },
): Promise<Worked> {
	const done: Cell[] = [];
	const failed: Failure[] = [];
	const waiting = cells.filter(({ id, seed }) => {
		const before = readCell(folder, id, seed);
		if (before) done.push(before);
		return !before;
	});
	if (waiting.length === 0) return { cells: done, failed };
	const clock = () => performance.now();
	const began = clock();
	const shown = progress(io.stderr, { clock });
	if (done.length > 0) shown.note(`${done.length} of ${cells.length} cells are there already`);
	const running = new Map<ChildProcess, { name: CellName; line: string }>();
	let stopped = 0;
	const stop = (exitCode: number) => () => {
		if (stopped === 0) io.stderr.write("\nstopping: every cell finishes its step and saves\n");
		stopped = exitCode;
		for (const child of running.keys()) child.kill("SIGTERM");
	};
	const listeners = [
		["SIGINT", stop(130)],
		["SIGTERM", stop(143)],
	] as const;
	for (const [signal, listener] of listeners) process.on(signal, listener);
	let finished = 0;
	const total = waiting.length;
	const show = () => {
		const each = finished > 0 ? (clock() - began) / 1000 / finished : undefined;
		shown.update({
			label: "cell",
			done: done.length + failed.length,
			fields: [
				["of", String(cells.length)],
				...(each === undefined
					? []
					: [["left", `about ${formatDuration(Math.round(each * (total - finished)))}`] as const]),
				...[...running.values()].map(({ name, line }) => [`| ${shownAs(name)}:`, line] as const),
			],
		});
	};
	const one = async (name: CellName): Promise<void> => {
		const files = comparisonFiles(folder);
		const log = createWriteStream(files.log(name.id, name.seed), { flags: "a" });
		// A log that cannot be written, as on a full disk, stops no cell.
		log.on("error", (error) =>
			shown.note(`${shownAs(name)}: cannot write its log: ${explainError(error)}`),
		);
		const child = spawn(
			process.execPath,
			[
				...[program(), "compare-cell", folder, name.id, String(name.seed)],
				...["--threads", String(threads), "--provider", provider],
			],
			{ stdio: ["ignore", "ignore", "pipe", "ipc"] },
		);
		const state = { name, line: "starting" };
		running.set(child, state);
		let said = "";
		child.stderr?.on("data", (data: Buffer) => {
			log.write(data);
			said = `${said}${data}`.slice(-4000);
			state.line =
				said
					.trimEnd()
					.split(/[\r\n]/)
					.at(-1)
					?.trim() ?? "";
			show();
		});
		const { code, signal } = await new Promise<{ code: number | null; signal: string | null }>(
			(resolve) => {
				child.on("error", (error) => {
					said = `error: ${error.message}`;
					resolve({ code: 1, signal: null });
				});
				child.on("close", (code, signal) => resolve({ code, signal }));
			},
		);
		running.delete(child);
		log.end();
		finished++;
		const cell = code === 0 ? readCell(folder, name.id, name.seed) : undefined;
		if (cell) {
			done.push(cell);
			shown.note(`${shownAs(name)}: done in ${formatDuration(cell.seconds)}`);
		} else if (stopped === 0) {
			const reason = reasonIn(said) ?? (signal ? `ended by ${signal}` : `exit code ${code}`);
			failed.push({ ...name, reason });
			shown.note(`${shownAs(name)}: failed: ${reason}; see ${files.log(name.id, name.seed)}`);
		}
		show();
	};
	try {
		const next = waiting.values();
		await Promise.all(
			Array.from({ length: Math.min(jobs, total) }, async () => {
				for (const name of next) {
					if (stopped !== 0) return;
					await one(name);
				}
			}),
		);
	} finally {
		for (const [signal, listener] of listeners) process.removeListener(signal, listener);
		shown.finish();
	}
	if (stopped !== 0) {
		io.stderr.write("saved; the same command goes on\n");
		throw new Exit(stopped);
	}
	return { cells: done, failed };
}

const reasonIn = (said: string): string | undefined => /error: ([^\n]+)/.exec(said)?.[1]?.trim();
