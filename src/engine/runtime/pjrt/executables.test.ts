import { readdir, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../data/records/testing/temporary-folder.js";
import { cacheKey, defaultCacheFolder, executableCache } from "./executables.js";

test("keys differ where any part differs", () => {
	const keys = [["a", "b"], ["ab"], ["a", "c"], ["a", "b", ""], ["b", "a"]].map((parts) =>
		cacheKey(...parts),
	);
	expect(new Set(keys).size).toBe(keys.length);
	expect(cacheKey("a", Uint8Array.of(98))).toBe(keys[0]);
});

test("gives back what was written, and nothing that is damaged", async () => {
	const folder = join(await temporaryFolder(), "new", "folder");
	const cache = executableCache(folder);
	expect(await cache.read("a")).toBeUndefined();
	await cache.write("a", Uint8Array.of(1, 2, 3));
	expect([...((await cache.read("a")) ?? [])]).toEqual([1, 2, 3]);
	expect((await stat(folder)).mode & 0o777).toBe(0o700);
	for (const damaged of [Buffer.alloc(0), Buffer.alloc(40), Buffer.from("text")]) {
		await writeFile(join(folder, "a.xla"), damaged);
		expect(await cache.read("a")).toBeUndefined();
	}
});

test("removes what was used the longest ago", async () => {
	const folder = await temporaryFolder();
	const cache = executableCache(folder, 250);
	await writeFile(join(folder, "notes.txt"), "not a program");
	for (const [i, key] of ["a", "b"].entries()) {
		await cache.write(key, new Uint8Array(68));
		await utimes(join(folder, `${key}.xla`), 1000 + i, 1000 + i);
	}
	// Read again, so that "b" is now the oldest.
	await cache.read("a");
	await cache.write("c", new Uint8Array(68));
	expect((await readdir(folder)).sort()).toEqual(["a.xla", "c.xla", "notes.txt"]);
});

test("a folder that cannot be written is no error", async () => {
	const file = join(await temporaryFolder(), "file");
	await writeFile(file, "");
	const cache = executableCache(join(file, "folder"));
	await cache.write("a", Uint8Array.of(1));
	expect(await cache.read("a")).toBeUndefined();
});

test("the folder is the user's, or a variable's", () => {
	expect(defaultCacheFolder({ TRAJGPT_XLA_CACHE: "/there" })).toBe("/there");
	expect(defaultCacheFolder({ XDG_CACHE_HOME: "/cache" })).toBe("/cache/trajgpt/xla");
	expect(defaultCacheFolder({})).toMatch(/\.cache\/trajgpt\/xla$/);
});
