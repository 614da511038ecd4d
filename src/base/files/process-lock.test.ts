import { type ChildProcess, fork } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../data/records/testing/temporary-folder.js";
import { InputError } from "../errors.js";
import { holdingLock } from "./process-lock.js";
import { compiled } from "./testing/compiled.js";

const task = "writing there";
const nothing = async () => {};
/** Beyond the largest process number of Linux. */
const gone = 2 ** 22 + 1;

/** Takes the lock when told to, stays inside until it is told to leave or killed, and notices whoever is inside too. */
const starter = `
	import { closeSync, openSync } from "node:fs";
	import { holdingLock } from "./base/files/process-lock.js";
	const [lock, inside] = process.argv.slice(2);
	let leave;
	process.on("message", async (message) => {
		if (message === "leave") return leave();
		while (Date.now() < message); // all at the same moment
		try {
			await holdingLock(lock, "writing there", async () => {
				let said = "inside";
				try {
					closeSync(openSync(inside, "wx"));
				} catch {
					said = "second inside";
				}
				process.send({ said });
				await new Promise((resolve) => { leave = resolve; });
			});
			process.send({ said: "left" });
		} catch (error) {
			process.send({ said: error.name === "InputError" ? "refused" : error.stack });
		}
	});
	process.send({ said: "ready" });
`;

const saidBy = async (child: ChildProcess): Promise<string> =>
	((await once(child, "message")) as [{ said: string }])[0].said;

test("exactly one of four processes takes over a dead process's lock, in each of 64 rounds", async () => {
	const folder = await temporaryFolder();
	const [lock, inside] = [join(folder, "work.lock"), join(folder, "inside")];
	const script = compiled(folder, starter);
	const begin = async () => {
		const child = fork(script, [lock, inside]);
		onTestFinished(() => void child.kill("SIGKILL"));
		expect(await saidBy(child)).toBe("ready");
		return child;
	};
	const children = await Promise.all([begin(), begin(), begin(), begin()]);
	const leaveDeadLock = () => writeFileSync(lock, JSON.stringify({ pid: gone, host: hostname() }));
	leaveDeadLock();
	for (let round = 0; round < 64; round++) {
		const answers = children.map(saidBy);
		const start = Date.now() + 5;
		for (const child of children) child.send(start);
		const said = await Promise.all(answers);
		expect({ round, said: [...said].sort() }).toEqual({
			round,
			said: ["inside", "refused", "refused", "refused"],
		});
		const at = said.indexOf("inside");
		const holder = children[at] as ChildProcess;
		if (round % 16 === 15) {
			const ended = once(holder, "exit");
			holder.kill("SIGKILL");
			await ended;
			children[at] = await begin();
		} else {
			const left = saidBy(holder);
			holder.send("leave");
			expect(await left).toBe("left");
			leaveDeadLock();
		}
		rmSync(inside);
	}
	await holdingLock(lock, task, nothing);
	expect(readdirSync(folder).sort()).toEqual(["js", "package.json"]);
});

describe("a lock", () => {
	const place = async () => join(await temporaryFolder(), "work.lock");
	const own = { pid: process.pid, host: hostname() };

	test("is removed after the work, also if the work failed", async () => {
		const lock = await place();
		expect(await holdingLock(lock, task, async () => readdirSync(join(lock, "..")))).toEqual([
			"work.lock",
		]);
		await expect(holdingLock(lock, task, () => Promise.reject(new Error("no")))).rejects.toThrow(
			"no",
		);
		expect(existsSync(lock)).toBe(false);
	});

	test("holds within a process too", async () => {
		const lock = await place();
		await holdingLock(lock, task, async () => {
			const second = holdingLock(lock, task, nothing);
			await expect(second).rejects.toThrow(InputError);
			await expect(second).rejects.toThrow(
				`process ${process.pid} is writing there (${lock}); wait for it or stop it`,
			);
		});
		expect(existsSync(lock)).toBe(false);
	});

	test.each<[string, object]>([
		["a process that has ended", { ...own, pid: gone }],
		["an earlier process with this one's number", own],
		["the same number before the system started again", { ...own, started: "another boot 12" }],
		[
			"a living process that was given the number since",
			{ ...own, pid: process.ppid, started: "x 1" },
		],
	])("is taken over from %s", async (_, holder) => {
		const lock = await place();
		writeFileSync(lock, JSON.stringify(holder));
		const held = await holdingLock(lock, task, async () => readFileSync(lock, "utf8"));
		expect(JSON.parse(held)).toMatchObject(own);
		expect(readdirSync(join(lock, ".."))).toEqual([]);
	});

	test("is taken over if earlier processes died while taking it over", async () => {
		const lock = await place();
		const guardOf = (content: string) =>
			`${lock}.after-${createHash("sha256").update(content).digest("hex").slice(0, 16)}`;
		const dead = (name: string) => JSON.stringify({ ...own, pid: gone, lock: name });
		writeFileSync(lock, dead("first"));
		writeFileSync(guardOf(dead("first")), dead("second"));
		writeFileSync(guardOf(dead("second")), dead("third"));
		writeFileSync(`${lock}.tmp-1`, dead("fourth"));
		await holdingLock(lock, task, nothing);
		expect(readdirSync(join(lock, ".."))).toEqual([]);
	});

	test.each<[string, string, string]>([
		["a living process", JSON.stringify({ ...own, pid: process.ppid }), "is writing there"],
		["a process of another host", '{"pid":1,"host":"elsewhere"}', "process 1 on elsewhere is"],
		["nobody who can be read", "", "does not say which process holds it"],
		["no process", '{"pid":0,"host":"here"}', "does not say which process holds it"],
	])("is left to %s", async (_, content, message) => {
		const lock = await place();
		writeFileSync(lock, content);
		const refused = holdingLock(lock, task, nothing);
		await expect(refused).rejects.toThrow(InputError);
		await expect(refused).rejects.toThrow(message);
		expect(readFileSync(lock, "utf8")).toBe(content);
		expect(readdirSync(join(lock, ".."))).toEqual(["work.lock"]);
	});

	test("that cannot be written is rejected with a message", async () => {
		const lock = await place();
		const inFile = join(lock, "work.lock");
		writeFileSync(lock, "");
		await expect(holdingLock(inFile, task, nothing)).rejects.toThrow(`cannot write ${inFile}: `);
	});
});
