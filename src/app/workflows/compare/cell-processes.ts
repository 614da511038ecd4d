import { type ChildProcess, spawn } from "node:child_process";
import { createWriteStream, existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { formatDuration, silentProgress } from "../../../base/progress.js";
import { explainError } from "../../../base/system-errors.js";
import type { Cell } from "../../../evaluate/index.js";
import type { Monitoring } from "../training.js";
import type { CellResources } from "./cell.js";
import { comparisonFiles, readCell } from "./plan.js";

export interface CellName {
	readonly id: string;
	readonly seed: number;
}

export interface Failure extends CellName {
	readonly reason: string;
}

export interface CellProcesses extends CellResources, Monitoring {
	/** Number of cells computed at the same time. */
	readonly jobs: number;
}

/** The built command line, also when this code runs from source. */
function program(): string {
	const built = fileURLToPath(new URL("../../../bin/trajgpt.js", import.meta.url));
	return existsSync(built)
		? built
		: fileURLToPath(new URL("../../../../dist/bin/trajgpt.js", import.meta.url));
}

const cellLabel = ({ id, seed }: CellName) => `${id} ${seed}`;

/**
 * Computes cells, each in its own process, `jobs` at the same time. Finished cells are not repeated; a failed cell
 * does not stop the others. When the signal is aborted, every cell saves, and the signal's reason is thrown.
 */
export async function computeCells(
	folder: string,
	cells: readonly CellName[],
	{ jobs, threads, provider, precision, progress = silentProgress, signal }: CellProcesses,
): Promise<{ readonly cells: readonly Cell[]; readonly failed: readonly Failure[] }> {
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
	if (done.length > 0)
		progress.note(`${done.length} of ${cells.length} cells are already finished`);
	const running = new Map<ChildProcess, { name: CellName; line: string }>();
	const stop = () => {
		for (const child of running.keys()) child.kill("SIGTERM");
	};
	signal?.addEventListener("abort", stop);
	let finished = 0;
	const total = waiting.length;
	const show = () => {
		const each = finished > 0 ? (clock() - began) / 1000 / finished : undefined;
		progress.update({
			label: "cell",
			done: done.length + failed.length,
			fields: [
				["of", String(cells.length)],
				...(each === undefined
					? []
					: [["left", `about ${formatDuration(Math.round(each * (total - finished)))}`] as const]),
				...[...running.values()].map(({ name, line }) => [`| ${cellLabel(name)}:`, line] as const),
			],
		});
	};
	const compute = async (name: CellName): Promise<void> => {
		const files = comparisonFiles(folder);
		const log = createWriteStream(files.log(name.id, name.seed), { flags: "a" });
		// A log that cannot be written, as on a full disk, does not stop the cell.
		log.on("error", (error) =>
			progress.note(`${cellLabel(name)}: cannot write its log: ${explainError(error)}`),
		);
		const child = spawn(
			process.execPath,
			[
				...[program(), "compare-cell", folder, name.id, String(name.seed)],
				...["--threads", String(threads), "--provider", provider],
				...(precision ? ["--precision", precision] : []),
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
		const { code, signal: endedBy } = await new Promise<{
			code: number | null;
			signal: string | null;
		}>((resolve) => {
			child.on("error", (error) => {
				said = `error: ${error.message}`;
				resolve({ code: 1, signal: null });
			});
			child.on("close", (code, signal) => resolve({ code, signal }));
		});
		running.delete(child);
		log.end();
		finished++;
		const cell = code === 0 ? readCell(folder, name.id, name.seed) : undefined;
		if (cell) {
			done.push(cell);
			progress.note(`${cellLabel(name)}: done in ${formatDuration(cell.seconds)}`);
		} else if (!signal?.aborted) {
			const reason = reasonIn(said) ?? (endedBy ? `ended by ${endedBy}` : `exit code ${code}`);
			failed.push({ ...name, reason });
			progress.note(`${cellLabel(name)}: failed: ${reason}; see ${files.log(name.id, name.seed)}`);
		}
		show();
	};
	try {
		const next = waiting.values();
		await Promise.all(
			Array.from({ length: Math.min(jobs, total) }, async () => {
				for (const name of next) {
					if (signal?.aborted) return;
					await compute(name);
				}
			}),
		);
	} finally {
		signal?.removeEventListener("abort", stop);
		progress.finish();
	}
	if (signal?.aborted) progress.note("saved; run the same command to continue");
	signal?.throwIfAborted();
	return { cells: done, failed };
}

const reasonIn = (said: string): string | undefined => /error: ([^\n]+)/.exec(said)?.[1]?.trim();
