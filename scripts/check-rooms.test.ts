import { expect, test } from "vitest";
import { checkEngineImports, checkRooms } from "./check-rooms.mjs";

function faults(files: Record<string, string>): string[] {
	return checkRooms(new Map(Object.entries(files))).map((v) => `${v.file}:${v.line}: ${v.rule}`);
}

const leaf = { "base/errors.ts": "export const x = 1;" };

test("a room may import itself, rooms before it, and base", () => {
	expect(
		faults({
			...leaf,
			"nn/linear.ts": 'import { x } from "../base/errors.js";\nexport { x };',
			"models/a.ts": 'import { x } from "../nn/linear.js";\nimport "./b.js";',
			"models/b.ts": "",
		}),
	).toEqual([]);
});

test.each([
	['import { x } from "../train/loop.js";', "static"],
	['import type { X } from "../train/loop.js";', "types"],
	['export * from "../train/loop.js";', "re-export"],
	['const x = await import("../train/loop.js");', "dynamic"],
])("an import of a later room is reported with its line: %s", (line) => {
	expect(faults({ "train/loop.ts": "", "nn/linear.ts": `\n${line}` })).toEqual([
		"nn/linear.ts:2: nn may not import train, which comes after it",
	]);
});

test("the engine does not import the data rooms", () => {
	expect(
		faults({ "cohort/split.ts": "", "runtime/node.ts": 'import "../cohort/split.js";' }),
	).toEqual([
		"runtime/node.ts:1: runtime may not import cohort: the engine knows nothing of records",
	]);
});

test("browser rooms do not load Node modules, directly or indirectly", () => {
	expect(
		faults({
			"runtime/node.ts": 'import "onnxruntime-node";',
			"runtime/types.ts": "",
			"nn/a.ts": 'import fs from "fs";',
			"infer/b.ts": 'import "../runtime/node.js";',
			"infer/c.ts": 'import type { X } from "../runtime/node.js";\nimport "../runtime/types.js";',
			"infer/d.ts": 'import "./b.js";',
		}),
	).toEqual([
		"nn/a.ts:1: nn runs in browsers too and may not load fs",
		"infer/b.ts:1: infer runs in browsers too and may not load runtime/node.ts → onnxruntime-node",
	]);
});

test("tests import what they need, and nothing else imports them", () => {
	expect(
		faults({
			...leaf,
			"runtime/node.ts": 'import "node:fs";',
			"graph/ops.test.ts": 'import "../runtime/node.js";\nimport "node:fs";',
			"graph/testing/cases.ts": 'import "../../runtime/node.js";',
			"graph/ops.ts": 'import "./testing/cases.js";',
		})[0],
	).toBe("graph/ops.ts:1: only tests import tests");
});

test("a folder that is not a room is reported", () => {
	expect(faults({ "utils/a.ts": "" })).toEqual(["utils/a.ts:1: src/utils is not a room"]);
});

test("one file loads onnxruntime-node, in tests and scripts too", () => {
	const files = {
		"src/runtime/onnxruntime-node.ts": 'export * from "onnxruntime-node";',
		"src/runtime/engine.ts": 'import type * as Ort from "onnxruntime-node";',
		"src/cli/doctor.ts": 'await import("onnxruntime-node");',
		"src/graph/ops.test.ts": 'import * as ort from "onnxruntime-node";',
		"bench/scan.mjs": 'const ort = require("onnxruntime-node/dist/index.js");',
	};
	const found = checkEngineImports(new Map(Object.entries(files)));
	expect(found.map(({ file, line }) => `${file}:${line}`)).toEqual([
		"src/cli/doctor.ts:1",
		"src/graph/ops.test.ts:1",
		"bench/scan.mjs:1",
	]);
});
