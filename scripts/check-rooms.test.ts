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
			"model/nn/linear.ts": 'import { x } from "../../base/errors.js";\nexport { x };',
			"model/a.ts": 'import { x } from "./nn/linear.js";\nimport "./b.js";',
			"model/b.ts": "",
		}),
	).toEqual([]);
});

test.each([
	['import { x } from "../train/loop.js";', "static"],
	['import type { X } from "../train/loop.js";', "types"],
	['export * from "../train/loop.js";', "re-export"],
	['const x = await import("../train/loop.js");', "dynamic"],
])("an import of a later room is reported with its line: %s", (line) => {
	expect(faults({ "model/train/loop.ts": "", "model/nn/linear.ts": `\n${line}` })).toEqual([
		"model/nn/linear.ts:2: model/nn may not import model/train, which comes after it",
	]);
});

test("the engine does not import the data rooms", () => {
	expect(
		faults({
			"data/cohort/split.ts": "",
			"engine/runtime/node.ts": 'import "../../data/cohort/split.js";',
		}),
	).toEqual([
		"engine/runtime/node.ts:1: engine/runtime may not import data/cohort: the engine knows nothing of records",
	]);
});

test("browser rooms do not load Node modules, directly or indirectly", () => {
	expect(
		faults({
			"engine/runtime/node.ts": 'import "onnxruntime-node";',
			"engine/runtime/types.ts": "",
			"model/nn/a.ts": 'import fs from "fs";',
			"predict/b.ts": 'import "../engine/runtime/node.js";',
			"predict/c.ts":
				'import type { X } from "../engine/runtime/node.js";\nimport "../engine/runtime/types.js";',
			"predict/d.ts": 'import "./b.js";',
		}),
	).toEqual([
		"model/nn/a.ts:1: model/nn runs in browsers too and may not load fs",
		"predict/b.ts:1: predict runs in browsers too and may not load engine/runtime/node.ts → onnxruntime-node",
	]);
});

test("tests import what they need, and nothing else imports them", () => {
	expect(
		faults({
			...leaf,
			"engine/runtime/node.ts": 'import "node:fs";',
			"engine/tensor/ops.test.ts": 'import "../runtime/node.js";\nimport "node:fs";',
			"engine/tensor/testing/cases.ts": 'import "../../runtime/node.js";',
			"engine/tensor/ops.ts": 'import "./testing/cases.js";',
		})[0],
	).toBe("engine/tensor/ops.ts:1: only tests import tests");
});

test("a folder that is not a room is reported", () => {
	expect(faults({ "utils/a.ts": "" })).toEqual(["utils/a.ts:1: src/utils is not a room"]);
});

test("one file loads onnxruntime-node, in tests and scripts too", () => {
	const engine = "onnxruntime-node";
	const files = {
		"src/engine/runtime/onnxruntime-node.ts": 'export * from "onnxruntime-node";',
		"src/engine/runtime/engine.ts": 'import type * as Ort from "onnxruntime-node";',
		"src/app/commands/doctor.ts": `await import("${engine}");`,
		"src/engine/tensor/ops.test.ts": 'import * as ort from "onnxruntime-node";',
		"bench/order.mjs": `const ort = require("${engine}/dist/index.js");`,
	};
	const found = checkEngineImports(new Map(Object.entries(files)));
	expect(found.map(({ file, line }) => `${file}:${line}`)).toEqual([
		"src/app/commands/doctor.ts:1",
		"src/engine/tensor/ops.test.ts:1",
		"bench/order.mjs:1",
	]);
});
