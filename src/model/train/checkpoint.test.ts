import {
	cpSync,
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	rmSync,
	truncateSync,
	writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { InputError } from "../../base/errors.js";
import { type Disk, disk } from "../../base/files/index.js";
import { temporaryFolder } from "../../data/records/testing/temporary-folder.js";
import {
	type Checkpoint,
	hasCheckpoint,
	isSealed,
	readCheckpoint,
	writeCheckpoint,
} from "./checkpoint.js";
import { decodeSafetensors } from "./safetensors.js";

let root = "";
let folder = "";
beforeEach(async () => {
	root = await temporaryFolder();
	folder = join(root, "run", "checkpoint");
});

function sample(step: number): Checkpoint {
	return {
		step,
		epoch: 2,
		model: "trajgpt",
		config: { layers: 2, unit: "days", dropout: 0.1 },
		state: { seed: 7, counter: step * 3, best: null, order: [3, 1, 2] },
		tensors: new Map([
			["weights/embed", { dtype: "F32", shape: [2, 3], data: new Float32Array(6).fill(step) }],
			["moments/count", { dtype: "I64", shape: [], data: BigInt64Array.of(BigInt(step)) }],
		]),
	};
}

const siblings = () => readdirSync(dirname(folder)).sort();

test("what is written is what is read, and nothing is left beside it", () => {
	writeCheckpoint(folder, sample(1));
	writeCheckpoint(folder, sample(2));
	expect(readCheckpoint(folder)).toEqual(sample(2));
	expect(siblings()).toEqual(["checkpoint"]);
	expect(readdirSync(folder).sort()).toEqual(["meta.json", "state.safetensors"]);
});

test("meta.json is plain to read", () => {
	writeCheckpoint(folder, sample(1));
	expect(JSON.parse(readFileSync(join(folder, "meta.json"), "utf8"))).toMatchObject({
		kind: "trajgpt-checkpoint",
		version: 1,
		step: 1,
		weights: { file: "state.safetensors", sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
	});
});

describe("the death of the process", () => {
	/** What a process wrote outlives it: waiting for the device changes nothing here. */
	const quick: Disk = {
		...disk,
		writeFile: (path, chunks) => writeFileSync(path, Buffer.concat(chunks)),
		syncFolder: () => {},
	};

	/** Dies before, within or after the n-th change to the disk; a dead process changes nothing more. */
	function mortal(
		moment: number,
		point: "before" | "within" | "after",
	): { on: Disk; died: () => boolean } {
		let count = 0;
		let dead = false;
		const die = () => {
			dead = true;
			throw new Error("killed");
		};
		const step =
			<A extends unknown[]>(whole: (...args: A) => void, part?: (...args: A) => void) =>
			(...args: A) => {
				if (dead) throw new Error("dead");
				const isMoment = count++ === moment;
				if (isMoment && point === "before") die();
				if (isMoment && point === "within") {
					part?.(...args);
					die();
				}
				whole(...args);
				if (isMoment) die();
			};
		const on: Disk = {
			makeFolder: step(quick.makeFolder),
			writeFile: step(quick.writeFile, (path, chunks) => {
				const bytes = Buffer.concat(chunks);
				writeFileSync(path, bytes.subarray(0, bytes.length / 2));
			}),
			syncFolder: step(quick.syncFolder),
			rename: step(quick.rename),
			remove: step(quick.remove, (path) => {
				const first = existsSync(path) ? readdirSync(path).sort()[0] : undefined;
				if (first) rmSync(join(path, first));
			}),
		};
		return { on, died: () => dead };
	}

	const points = ["before", "within", "after"] as const;

	test.each(points)("%s any step leaves the old or the new checkpoint", (point) => {
		const seen: number[] = [];
		for (let moment = 0; ; moment++) {
			rmSync(root, { recursive: true, force: true });
			writeCheckpoint(folder, sample(1), quick);
			const { on, died } = mortal(moment, point);
			try {
				writeCheckpoint(folder, sample(2), on);
			} catch (error) {
				expect(error).toBeInstanceOf(InputError);
			}
			if (!died()) break;
			const read = readCheckpoint(folder);
			expect(read).toEqual(sample(read.step));
			seen.push(read.step);
			writeCheckpoint(folder, sample(3), quick);
			expect(readCheckpoint(folder)).toEqual(sample(3));
			expect(siblings()).toEqual(["checkpoint"]);
		}
		expect(seen.length).toBeGreaterThan(8);
		expect(seen).toEqual([...seen].sort()); // first always the old one, then always the new one
		expect(new Set(seen)).toEqual(new Set([1, 2]));
	});

	test("twice in a row, at any two steps, still leaves a checkpoint", () => {
		let rounds = 0;
		for (let first = 0; ; first++) {
			let firstDied = false;
			for (let second = 0; ; second++) {
				rmSync(root, { recursive: true, force: true });
				writeCheckpoint(folder, sample(1), quick);
				const [one, two] = [mortal(first, "within"), mortal(second, "within")];
				for (const [step, { on }] of [
					[2, one],
					[3, two],
				] as const) {
					try {
						writeCheckpoint(folder, sample(step), on);
					} catch (error) {
						expect(error).toBeInstanceOf(InputError);
					}
				}
				const read = readCheckpoint(folder);
				expect(read).toEqual(sample(read.step));
				rounds++;
				firstDied = one.died();
				if (!two.died()) break;
			}
			if (!firstDied) break;
		}
		expect(rounds).toBeGreaterThan(80);
	});
});

describe("a disk that refuses", () => {
	const failing = (code: string, where: RegExp): Disk => {
		const check = (path: string) => {
			if (where.test(path)) throw Object.assign(new Error(`${code}: failed`), { code, path });
		};
		return {
			...disk,
			writeFile: (path, chunks) => {
				check(path);
				disk.writeFile(path, chunks);
			},
			rename: (from, to) => {
				check(from);
				disk.rename(from, to);
			},
		};
	};

	test.each([
		["ENOSPC", /state\.safetensors$/, /the disk is full at .*state\.safetensors/],
		["ENOSPC", /meta\.json$/, /the disk is full at .*meta\.json/],
		["EACCES", /checkpoint$/, /permission denied at .*checkpoint/],
		["EACCES", /tmp-\d+$/, /permission denied at .*checkpoint\.tmp-/],
	])("%s at %s says so and leaves the old checkpoint", (code, where, message) => {
		writeCheckpoint(folder, sample(1));
		const write = () => writeCheckpoint(folder, sample(2), failing(code, where));
		expect(write).toThrow(InputError);
		expect(write).toThrow(message);
		expect(write).toThrow(`the previous checkpoint is intact in ${folder}`);
		expect(readCheckpoint(folder)).toEqual(sample(1));
		expect(siblings()).toEqual(["checkpoint"]);
	});

	test("a first checkpoint that cannot be written leaves nothing", () => {
		expect(() => writeCheckpoint(folder, sample(1), failing("ENOSPC", /meta/))).toThrow(
			"there was no checkpoint before",
		);
		expect(siblings()).toEqual([]);
	});

	test("a path through a file is refused", () => {
		writeFileSync(join(root, "run"), "a file");
		expect(() => writeCheckpoint(folder, sample(1))).toThrow(InputError);
		expect(readFileSync(join(root, "run"), "utf8")).toBe("a file");
	});
});

describe("nothing of the user's is replaced:", () => {
	test.each([
		["other files", { "notes.txt": "mine" }],
		["a checkpoint with other files", { "meta.json": '{"kind":"trajgpt-checkpoint"}', notes: "" }],
		["a meta.json of something else", { "meta.json": '{"kind":"other"}' }],
	])("%s", (_, files) => {
		mkdirSync(folder, { recursive: true });
		for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
		expect(() => writeCheckpoint(folder, sample(1))).toThrow(`will not replace ${folder}`);
		expect(readdirSync(folder).sort()).toEqual(Object.keys(files).sort());
		expect(siblings()).toEqual(["checkpoint"]);
	});

	test("an .old folder that is not ours", () => {
		mkdirSync(`${folder}.old`, { recursive: true });
		writeFileSync(join(`${folder}.old`, "thesis.txt"), "mine");
		expect(() => writeCheckpoint(folder, sample(1))).toThrow(`will not replace ${folder}.old`);
		expect(siblings()).toEqual(["checkpoint.old"]);
	});
});

test("an empty folder is taken, and does not hide the checkpoint that stepped aside", () => {
	writeCheckpoint(folder, sample(1));
	disk.rename(folder, `${folder}.old`);
	mkdirSync(folder);
	expect(readCheckpoint(folder)).toEqual(sample(1));
	expect(() => writeCheckpoint(folder, { ...sample(2), state: Number.NaN })).toThrow();
	expect(readCheckpoint(folder)).toEqual(sample(1));
	writeCheckpoint(folder, sample(2));
	expect(readCheckpoint(folder)).toEqual(sample(2));
	expect(siblings()).toEqual(["checkpoint"]);
});

test("what a living writer has beside it stays", () => {
	mkdirSync(`${folder}.tmp-${process.ppid}`, { recursive: true });
	mkdirSync(`${folder}.tmp-999999999`);
	writeCheckpoint(folder, sample(1));
	expect(siblings()).toEqual(["checkpoint", `checkpoint.tmp-${process.ppid}`]);
});

test("state that JSON would lose is refused by name", () => {
	const write = (state: unknown) => () => writeCheckpoint(folder, { ...sample(1), state });
	expect(write({ best: Number.POSITIVE_INFINITY })).toThrow("checkpoint.state.best is Infinity");
	expect(write({ seen: new Map() })).toThrow("checkpoint.state.seen is Map");
	expect(write({ list: [1, undefined] })).toThrow("checkpoint.state.list.1 is undefined");
	expect(existsSync(folder)).toBe(false);
});

describe("reading refuses, with the reason,", () => {
	const state = () => join(folder, "state.safetensors");
	const editMeta = (edit: (meta: Record<string, unknown>) => unknown) => {
		const file = join(folder, "meta.json");
		writeFileSync(file, JSON.stringify(edit(JSON.parse(readFileSync(file, "utf8")))));
	};
	const flip = () => {
		const bytes = readFileSync(state());
		bytes[bytes.length - 1] = 1;
		writeFileSync(state(), bytes);
	};
	test.each<[string, () => void, string]>([
		["a folder that is not there", () => rmSync(folder, { recursive: true }), "no such folder"],
		["no meta.json", () => rmSync(join(folder, "meta.json")), "no such file or folder"],
		["no weights", () => rmSync(state()), "no such file or folder"],
		["weights cut short", () => truncateSync(state(), 100), "has 100 bytes, meta.json says"],
		["weights that changed", flip, "state.safetensors has sha256"],
		["meta.json cut short", () => truncateSync(join(folder, "meta.json"), 50), "is not JSON"],
		["a foreign kind", () => editMeta(() => ({ kind: "x" })), 'has kind "x", expected "trajgpt-'],
		["null", () => editMeta(() => null), "has kind nothing, expected"],
		["a newer format", () => editMeta((m) => ({ ...m, version: 2 })), "expected 1; update trajgpt"],
		["a bad step", () => editMeta((m) => ({ ...m, step: -1 })), "has step -1, expected a whole"],
		["no config", () => editMeta(({ config, ...m }) => m), "has config nothing, expected"],
		[
			"another checkpoint's meta.json",
			() => editMeta((m) => ({ ...m, config: { layers: 3 } })),
			"meta.json was changed, or is another checkpoint's",
		],
		["no hash", () => editMeta((m) => ({ ...m, weights: null })), "has weights.bytes nothing"],
	])("%s", (_, damage, reason) => {
		writeCheckpoint(folder, sample(1));
		damage();
		const before = join(root, "before");
		cpSync(dirname(folder), before, { recursive: true });
		const read = () => readCheckpoint(folder);
		expect(read).toThrow(InputError);
		expect(read).toThrow(`cannot read the checkpoint ${folder}`);
		expect(read).toThrow(reason);
		expect(readdirSync(dirname(folder), { recursive: true }).sort()).toEqual(
			readdirSync(before, { recursive: true }).sort(),
		);
	});
});

test("hasCheckpoint knows the checkpoint that stepped aside", () => {
	expect(hasCheckpoint(folder)).toBe(false);
	writeCheckpoint(folder, sample(1));
	expect(hasCheckpoint(folder)).toBe(true);
	disk.rename(folder, `${folder}.old`);
	expect(hasCheckpoint(folder)).toBe(true);
});

test("the files that weights were learned with are named in the header of their file", () => {
	const seal = { "run.json": "ab", "vocabulary.json": "cd" };
	writeCheckpoint(folder, sample(1));
	expect([isSealed(folder), readCheckpoint(folder).seal]).toEqual([false, undefined]);
	writeCheckpoint(folder, { ...sample(1), seal });
	expect([isSealed(folder), readCheckpoint(folder).seal]).toEqual([true, seal]);
	const { metadata } = decodeSafetensors(readFileSync(join(folder, "state.safetensors")), "it");
	expect(metadata).toEqual({
		"sha256:meta.json": expect.stringMatching(/^[0-9a-f]{64}$/),
		"sha256:run.json": "ab",
		"sha256:vocabulary.json": "cd",
	});
});

test.each([Number.NaN, Number.POSITIVE_INFINITY])("a weight that is %s is not written", (value) => {
	writeCheckpoint(folder, sample(1));
	const data = Float32Array.of(0, value);
	const tensors = new Map([["weights/embed", { dtype: "F32" as const, shape: [2], data }]]);
	const write = () => writeCheckpoint(folder, { ...sample(2), tensors });
	expect(write).toThrow(InputError);
	expect(write).toThrow(
		`the checkpoint of step 2 is not written to ${folder}: tensor "weights/embed" holds ${value} at 1, ` +
			`expected a finite number; the previous checkpoint is intact in ${folder}`,
	);
	expect(readCheckpoint(folder)).toEqual(sample(1));
});
