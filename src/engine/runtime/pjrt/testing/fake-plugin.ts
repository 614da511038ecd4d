import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, renameSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeAll, beforeEach, expect, onTestFinished } from "vitest";
import { temporaryFolder } from "../../../../data/records/testing/temporary-folder.js";
import { loadKoffi } from "../../load-koffi.js";

const living = ["clients", "programs", "descriptions", "buffers", "events", "errors", "serialized"];
const counted = [...living, "compiled", "runs"] as const;

export interface FakePlugin {
	readonly path: string;
	/** What lives now, by kind, and how often was `compiled` and how many `runs` there were. */
	counts(): Record<string, number>;
	/** What lives now; empty if all was destroyed. */
	alive(): Record<string, number>;
	/** The first misuse since the last call; empty if there was none. */
	misuse(): string;
}

const source = fileURLToPath(new URL("fake-plugin.c", import.meta.url));

/** Without gcc and the headers of C, tests that need the fake plugin are skipped. */
export const hasCompiler: boolean =
	spawnSync("gcc", ["-E", "-include", "stdio.h", "-x", "c", "/dev/null"]).status === 0;

/** The fake plugin, compiled once for all test files. */
async function fakePlugin(): Promise<FakePlugin> {
	const path = join(process.env.TRAJGPT_FIXTURES as string, "fake-plugin.so");
	if (!existsSync(path)) {
		const made = `${path}-${process.pid}`;
		const flags = ["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"];
		execFileSync("gcc", [...flags, "-o", made, source]);
		renameSync(made, path);
	}
	const library = (await loadKoffi()).load(path);
	const counts = library.func("void FakeCounts(void *counts)");
	const misuse = library.func("void FakeMisuse(void *text)");
	const read = (): Record<string, number> => {
		const values = new BigInt64Array(counted.length);
		counts(values);
		return Object.fromEntries(counted.map((name, i) => [name, Number(values[i])]));
	};
	return {
		path,
		counts: read,
		alive: () =>
			Object.fromEntries(
				Object.entries(read()).filter(([name, count]) => living.includes(name) && count !== 0),
			),
		misuse() {
			const text = Buffer.alloc(400);
			misuse(text);
			return text.subarray(0, text.indexOf(0)).toString();
		},
	};
}

/** Chooses the fake plugin for every test of a `describe`, with a cache of its own; each must destroy all that it made. */
export function choosePlugin(): void {
	let plugin: FakePlugin;
	beforeAll(async () => {
		plugin = await fakePlugin();
	});
	beforeEach(async () => {
		setDuringTest("TRAJGPT_PJRT_PLUGIN", plugin.path);
		setDuringTest("TRAJGPT_XLA_CACHE", await temporaryFolder());
		setDuringTest("XLA_FLAGS", "");
		onTestFinished(() => {
			expect(plugin.misuse()).toBe("");
			expect(plugin.alive()).toEqual({});
		});
	});
}

/** The fake plugin of a `describe`, every test of which must use it well and destroy all that it made. */
export function checkedPlugin(): FakePlugin {
	const plugin = {} as { -readonly [K in keyof FakePlugin]: FakePlugin[K] };
	const { XLA_FLAGS = "" } = process.env;
	beforeAll(async () => {
		Object.assign(plugin, await fakePlugin());
	});
	afterEach(() => {
		process.env.XLA_FLAGS = XLA_FLAGS;
		expect(plugin.misuse()).toBe("");
		expect(plugin.alive()).toEqual({});
	});
	return plugin;
}

/** Makes the fake plugin fail until the test ends. */
export function failing(faults: string): void {
	setDuringTest("FAKE_PJRT", faults);
}

export function setDuringTest(variable: string, value: string): void {
	const before = process.env[variable];
	process.env[variable] = value;
	onTestFinished(() => {
		if (before === undefined) delete process.env[variable];
		else process.env[variable] = before;
	});
}
