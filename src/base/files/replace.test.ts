import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { temporaryFolder } from "../../data/records/testing/temporary-folder.js";
import { InputError } from "../errors.js";
import { checkFileTarget, checkFolderTarget, replaceFile, replaceFolder } from "./replace.js";

const calls = vi.hoisted(() => [] as (readonly string[])[]);
vi.mock("node:fs", async (original) => {
	const fs = await original<typeof import("node:fs")>();
	const names = new Map<number, string>();
	return {
		...fs,
		openSync: (...given: Parameters<typeof fs.openSync>) => {
			const handle = fs.openSync(...given);
			names.set(handle, String(given[0]));
			return handle;
		},
		fsyncSync: (handle: number) => {
			calls.push(["sync", names.get(handle) ?? ""]);
			fs.fsyncSync(handle);
		},
		renameSync: (from: string, to: string) => {
			calls.push(["rename", from, to]);
			fs.renameSync(from, to);
		},
	};
});

test("a file is complete or unchanged", async () => {
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

test("system errors are explained", async () => {
	const target = join(await temporaryFolder(), "file");
	const full = Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
	const writing = replaceFolder(target, () => Promise.reject(full));
	await expect(writing).rejects.toThrow(`cannot write ${target}: the disk is full`);
	await expect(writing).rejects.toThrow(InputError);
	await writeFile(target, "");
	const below = replaceFile(join(target, "x"), (path) => writeFile(path, ""));
	await expect(below).rejects.toThrow("cannot write");
});

test("rejects existing targets, unless forced and marked as ours", async () => {
	const folder = await temporaryFolder();
	const inside = join(folder, "inside");
	await checkFileTarget(inside, false);
	await checkFolderTarget(inside, false, "marker", ["letters"]);
	await expect(checkFileTarget(folder, true)).rejects.toThrow("is a folder; expected a file");
	await mkdir(inside);
	await expect(checkFolderTarget(inside, false, "marker", ["letters"])).rejects.toThrow(
		"already exists; choose another folder, or pass `replace`",
	);
	await checkFolderTarget(inside, true, "marker", ["letters"]);
	await writeFile(join(inside, "letters"), "");
	await expect(checkFolderTarget(inside, true, "marker", ["letters"])).rejects.toThrow(
		"holds files but no marker, so `replace` will not replace it",
	);
	await writeFile(join(inside, "marker"), "");
	await checkFolderTarget(inside, true, "marker", ["letters"]);
	await expect(checkFolderTarget(inside, true, "marker", ["bills"])).rejects.toThrow(
		"holds letters, which `replace` would remove; move it away, or choose another folder",
	);
	await mkdir(join(inside, "deep", "er"), { recursive: true });
	for (const name of ["kept", "notes"]) await writeFile(join(inside, "deep", "er", name), "");
	await checkFolderTarget(inside, true, "marker", ["letters", "deep/er/"]);
	await expect(
		checkFolderTarget(inside, true, "marker", ["letters", "deep/er/kept"]),
	).rejects.toThrow("holds deep/er/notes, which `replace` would remove");
	await expect(checkFileTarget(join(inside, "marker"), false)).rejects.toThrow("pass `replace`");
	await checkFileTarget(join(inside, "marker"), true);
	await expect(checkFolderTarget(join(inside, "marker"), true, "m", [])).rejects.toThrow(
		"is a file",
	);
});

test("removes temporary files of dead processes, and the previous target only once a new one exists", async () => {
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

test("other signal listeners decide when the process ends", async () => {
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

test("a folder created in the meantime is replaced only if allowed", async () => {
	const place = await temporaryFolder();
	const target = join(place, "data");
	const write = (text: string) => (partial: string) => writeFile(join(partial, "file"), text);
	const content = () => readFile(join(target, "file"), "utf8");
	const meanwhile = replaceFolder(
		target,
		async (partial) => {
			await write("late")(partial);
			await mkdir(target);
			await write("early")(target);
		},
		{ replace: false },
	);
	await expect(meanwhile).rejects.toThrow(InputError);
	await expect(meanwhile).rejects.toThrow(`${target} was written by another process meanwhile`);
	expect(await content()).toBe("early");
	const begun = vi.fn(async () => {});
	const before = replaceFolder(target, begun, { replace: false });
	await expect(before).rejects.toThrow("choose another folder, or pass `replace`");
	expect(begun).not.toHaveBeenCalled();
	expect(await content()).toBe("early");
	await replaceFolder(target, write("forced"));
	expect(await content()).toBe("forced");
	expect(await readdir(place)).toEqual(["data"]);
});

test("content is synced before a rename, and the folder after", async () => {
	const place = await temporaryFolder();
	const short = (path: string) => path.replace(place, "").replace(/tmp-\d+/, "tmp") || "/";
	const seen = () =>
		calls
			.splice(0)
			.map((call) => call.map(short).join(" "))
			.filter((call) => !call.includes("lock"));
	seen();
	await replaceFile(join(place, "file"), (path) => writeFile(path, "one"));
	expect(seen()).toEqual(["sync /.file.tmp", "rename /.file.tmp /file", "sync /"]);
	await replaceFolder(join(place, "data"), async (partial) => {
		await mkdir(join(partial, "part"));
		await writeFile(join(partial, "part", "file"), "one");
	});
	expect(seen()).toEqual([
		"sync /.data.tmp/part/file",
		"sync /.data.tmp/part",
		"sync /.data.tmp",
		"rename /.data.tmp /data",
		"sync /",
	]);
});
