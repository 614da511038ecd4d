import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { captured } from "./testing/captured.js";
import { interrupted } from "./testing/interrupted.js";

const folder = mkdtempSync(join(tmpdir(), "trajgpt-interrupted-"));
const population = join(folder, "population");
afterAll(() => rmSync(folder, { recursive: true }));
beforeAll(async () => {
	expect((await captured(["simulate", "--patients", "30", "--out", population])).code).toBe(0);
});

interrupted(
	"prepare",
	{
		argv: (out) => ["prepare", population, "--from", "csv", "--out", out, "--force"],
		saying: "reading ",
		file: "manifest.json",
	},
	["SIGINT"],
);
