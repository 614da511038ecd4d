import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../data/records/testing/temporary-folder.js";
import { captured } from "./captured.js";
import { runBuilt } from "./run-built.js";

/** A command that writes a folder, as it is stopped in the middle. */
interface Interrupted {
	readonly argv: (out: string, patients: number) => readonly string[];
	/** What it prints in the middle. */
	readonly saying: string;
	/** A file of the folder. */
	readonly file: string;
}

const codes = { SIGINT: 130, SIGTERM: 143 } as const;

/** Neither a signal nor kill -9 may spoil the folder that a command writes. */
export function interrupted(
	name: string,
	{ argv, saying, file }: Interrupted,
	signals: readonly (keyof typeof codes)[] = ["SIGINT", "SIGTERM"],
): void {
	describe(name, () => {
		test.each(signals)("%s leaves nothing behind, and the target as it was", async (signal) => {
			const place = await temporaryFolder();
			const out = join(place, "out");
			const never = await runBuilt(argv(out, 2000), { saying, signal });
			expect(never).toMatchObject({ code: codes[signal], stdout: "" });
			expect(await readdir(place)).toEqual([]);
			expect((await captured(argv(out, 2))).code).toBe(0);
			const before = await readFile(join(out, file));
			const stopped = await runBuilt(argv(out, 2000), { saying, signal });
			expect(stopped).toMatchObject({ code: codes[signal], stdout: "" });
			expect(await readdir(place)).toEqual(["out"]);
			expect(await readFile(join(out, file))).toEqual(before);
		});

		test("kill -9 leaves a folder that the next run removes", async () => {
			const place = await temporaryFolder();
			const out = join(place, "out");
			const killed = await runBuilt(argv(out, 2000), { saying, signal: "SIGKILL" });
			expect(killed.signal).toBe("SIGKILL");
			expect((await readdir(place)).sort()).toEqual([
				".out.lock",
				expect.stringMatching(/^\.out\.tmp-\d+$/),
			]);
			expect((await captured(argv(out, 2))).code).toBe(0);
			expect(await readdir(place)).toEqual(["out"]);
		});
	});
}
