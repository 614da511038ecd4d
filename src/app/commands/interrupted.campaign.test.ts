import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { done } from "./testing/captured.js";
import { interrupted } from "./testing/interrupted.js";

const folder = mkdtempSync(join(tmpdir(), "trajgpt-interrupted-"));
const population = join(folder, "population");
afterAll(() => rmSync(folder, { recursive: true }));
beforeAll(async () => {
	await done`simulate --patients 30 --out ${population}`;
});

const simulate = (format: string) => (out: string, patients: number) => [
	...["simulate", "--patients", String(patients), "--format", format, "--out", out, "--force"],
];

interrupted("simulate", {
	argv: simulate("csv"),
	saying: "simulating: person 200",
	file: "people.csv",
});
interrupted("simulate, as Parquet", {
	argv: simulate("parquet"),
	saying: "simulating: person 200",
	file: "people.parquet",
});
interrupted(
	"prepare",
	{
		argv: (out) => ["prepare", population, "--from", "csv", "--out", out, "--force"],
		saying: "reading ",
		file: "manifest.json",
	},
	["SIGTERM"],
);
