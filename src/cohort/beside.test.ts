import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { InputError } from "../base/errors.js";
import { temporaryFolder } from "../records/testing/temporary-folder.js";
import { checkFileTarget, checkFolderTarget, replaceFile, replaceFolder } from "./beside.js";

test("a file is whole or untouched", async () => {
	const folder = await temporaryFolder();
	const target = join(folder, "new", "file");
	await replaceFile(target, (path) => writeFile(path, "one"));
	const failing = replaceFile(target, async (path) => {
		await writeFile(path, "tw");
		throw new Error("stopped");
	});
	await expect(failing).rejects.toThrow("stopped");
	expect(await readFile(target, "utf8")).toBe("one");
	await replaceFile(target, (path) => writeFile(path, "two"));
	expect(await readFile(target, "utf8")).toBe("two");
	expect(await readdir(join(folder, "new"))).toEqual(["file"]);
});

test("what the machine refuses is said in words", async () => {
	const target = join(await temporaryFolder(), "file");
	const full = Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
	const writing = replaceFolder(target, () => Promise.reject(full));
	await expect(writing).rejects.toThrow(`cannot write ${target}: the disk is full`);
	await expect(writing).rejects.toThrow(InputError);
	await writeFile(target, "");
	const below = replaceFile(join(target, "x"), (path) => writeFile(path, ""));
	await expect(below).rejects.toThrow("cannot write");
});

test("targets that are there are refused, unless forced and ours", async () => {
	const folder = await temporaryFolder();
	const inside = join(folder, "inside");
	await checkFileTarget(inside, false);
	await checkFolderTarget(inside, false, "marker");
	await expect(checkFileTarget(folder, true)).rejects.toThrow("is a folder; expected a file");
	await mkdir(inside);
	await expect(checkFolderTarget(inside, false, "marker")).rejects.toThrow(
		"already exists; choose another folder, or pass --force",
	);
	await checkFolderTarget(inside, true, "marker");
	await writeFile(join(inside, "letters"), "");
	await expect(checkFolderTarget(inside, true, "marker")).rejects.toThrow(
		"holds files but no marker, so --force will not replace it",
	);
	await writeFile(join(inside, "marker"), "");
	await checkFolderTarget(inside, true, "marker");
	await expect(checkFileTarget(join(inside, "marker"), false)).rejects.toThrow("pass --force");
	await checkFileTarget(join(inside, "marker"), true);
	await expect(checkFolderTarget(join(inside, "marker"), true, "m")).rejects.toThrow("is a file");
});

test("what dead processes left is removed, and what was set aside only once there is another", async () => {
	const folder = await temporaryFolder();
	const target = join(folder, "data");
	const gone = 2 ** 22 + 1;
	const left = [".data", ".data.previous"].flatMap((name) =>
		[gone, process.ppid, "mine"].map((writer) => `${name}.tmp-${writer}`),
	);
	for (const name of [...left, ".data2.tmp-4194305"]) await mkdir(join(folder, name));
	const others = left.filter((name) => !name.endsWith(String(gone)));
	const previous = `.data.previous.tmp-${gone}`;
	const failing = replaceFolder(target, () => Promise.reject(new Error("stopped")));
	await expect(failing).rejects.toThrow("stopped");
	const stays = [...others, ".data2.tmp-4194305"];
	expect((await readdir(folder)).sort()).toEqual([...stays, previous].sort());
	await replaceFolder(target, (partial) => writeFile(join(partial, "file"), "one"));
	expect((await readdir(folder)).sort()).toEqual([...stays, "data"].sort());
	await replaceFolder(target, (partial) => writeFile(join(partial, "file"), "two"));
	expect((await readdir(folder)).sort()).toEqual([...stays, "data"].sort());
	expect(await readFile(join(target, "file"), "utf8")).toBe("two");
});

test("who listens to signals too decides when to end", async () => {
	const listened = () => ["SIGINT", "SIGTERM", "exit"].map((name) => process.listenerCount(name));
	const before = listened();
	let heard = 0;
	const listener = () => heard++;
	process.on("SIGINT", listener);
	onTestFinished(() => void process.removeListener("SIGINT", listener));
	const target = join(await temporaryFolder(), "file");
	await replaceFile(target, async (path) => {
		process.emit("SIGINT");
		await writeFile(path, "one");
	});
	expect(heard).toBe(1);
	expect(await readFile(target, "utf8")).toBe("one");
	process.removeListener("SIGINT", listener);
	expect(listened()).toEqual(before);
});
