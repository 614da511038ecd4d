import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { readCheckpoint } from "../../../model/train/checkpoint.js";
import { readEventLog } from "../../../model/train/event-log.js";
import { done, smallModel, words } from "./captured.js";
import { runBuilt } from "./run-built.js";

/** Simulates people, and prepares their records. */
export async function preparedPeople(
	folder: string,
	patients: number,
	seed: number,
	minCount = 30,
) {
	const population = `${folder}-population`;
	await done`simulate --patients ${patients} --seed ${seed} --out ${population}`;
	await done`prepare ${population} --from csv --min-count ${minCount} --out ${folder}`;
	// Every new run would simulate people again, to recognise them.
	rmSync(population, { recursive: true });
}

/** A hash of every file in a folder. */
export const contents = (folder: string): Record<string, string> =>
	Object.fromEntries(
		readdirSync(folder, { recursive: true, withFileTypes: true })
			.filter((entry) => entry.isFile())
			.map(({ parentPath, name }) => join(parentPath, name))
			.map((file) => [
				file.slice(folder.length + 1),
				createHash("sha256").update(readFileSync(file)).digest("hex"),
			]),
	);

/** The log without what depends on the clock. */
export const logOf = (run: string) =>
	readEventLog(join(run, "log.jsonl")).map(({ tokensPerSecond, ...event }) => event);

/** Command lines that train a small model for 12 steps, and what to compare runs by. The caller removes `root`. */
export function smallTraining() {
	const root = mkdtempSync(join(tmpdir(), "trajgpt-pretrain-"));
	const dataset = join(root, "data");
	const whole = join(root, "whole");
	const fresh = (out: string) =>
		words`pretrain ${dataset} --out ${out} ${smallModel} --epochs 2 --checkpoint-every 3 --batch-slots 768 --max-length 40 --threads 1`;
	const again = (out: string) => words`pretrain ${dataset} --out ${out} --resume`;

	function expectSameAsWhole(run: string) {
		const [got, expected] = [contents(run), contents(whole)];
		for (const place of ["checkpoint", "best"])
			for (const file of ["state.safetensors", "meta.json"])
				expect(got[join(place, file)], `${place}/${file}`).toBe(expected[join(place, file)]);
		expect(logOf(run)).toEqual(logOf(whole));
		expect(readdirSync(run).sort()).toEqual(readdirSync(whole).sort());
	}

	/** Kills the training of a run at each of these changes to the disk; gives what it left each time. */
	async function killAt(calls: readonly number[], run: string): Promise<string[]> {
		const left: string[] = [];
		for (const call of calls) {
			const argv = existsSync(join(run, "run.json")) ? again(run) : fresh(run);
			const died = await runBuilt(argv, { call, signal: "SIGKILL" });
			expect(died.signal, died.stderr).toBe("SIGKILL");
			left.push(...readdirSync(run).map((name) => name.replace(/\d+$/, "N")));
			if (existsSync(join(run, "checkpoint"))) readCheckpoint(join(run, "checkpoint"));
		}
		return left;
	}

	return { root, dataset, whole, fresh, again, killAt, expectSameAsWhole };
}
