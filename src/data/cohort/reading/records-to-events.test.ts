import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { checkRooms } from "../../../../scripts/check-rooms.mjs";
import { builtInMap } from "../../codes/index.js";
import { type Token, vocabularyOf } from "../vocabulary.js";
import { nothingKnown } from "./people.js";
import { type GivenRecord, recordReader } from "./records-to-events.js";
import type { ReadingRules } from "./rules.js";

const token = (code: string): Token => ({
	...{ kind: "diagnosis", system: "PheCode", code, name: code, category: null, count: 1 },
});
const vocabulary = vocabularyOf(["250", "714", "401"].map(token));
const [diabetes, arthritis, pressure] = [5, 6, 7];
const rules: ReadingRules = {
	...{ map: builtInMap().source, level: "integer", keptUnmapped: false, drugs: "none" },
	...{ dedup: "day", maxRecords: null, deathToken: false, axis: "days" },
};
const reader = (more: Partial<ReadingRules> = {}) =>
	recordReader(vocabulary, { ...rules, ...more }, builtInMap());
const record = (day: number, code: string, system: string | null = "PheCode"): GivenRecord => ({
	...{ day, code, system },
});

describe("further records", () => {
	test("are repetitions of the latest day only", () => {
		const first = reader().patient(
			"p",
			nothingKnown,
			[record(1, "250"), record(2.5, "401"), record(2, "9999")],
			"days",
		);
		const more = reader().more(
			[record(2.75, "401"), record(2.75, "250"), record(2.8, "9998"), record(3, "401")],
			"days",
			first.latest,
		);
		expect(more.events).toEqual([
			{ token: diabetes, day: 2.75, place: 1 },
			{ token: pressure, day: 3, place: 3 },
		]);
		expect(more.repeated).toBe(1);
		expect(more.unknown.map(({ place }) => place)).toEqual([2]);
		expect(more.latest?.period).toBe(3);
		expect(reader({ dedup: "none" }).more([record(1, "250")], "days", undefined).latest).toBe(
			undefined,
		);
	});

	test("are not cut", () => {
		const some = [record(1, "250"), record(2, "250"), record(3, "250")];
		expect(reader({ maxRecords: 2 }).more(some, "days", undefined).events).toHaveLength(3);
		expect(reader({ maxRecords: 2 }).patient("p", nothingKnown, some, "days").cut).toBe(1);
	});
});

test("reports an unknown code by what it maps to, and whether its record has other known codes", () => {
	const { unknown, events } = reader().patient(
		"p",
		nothingKnown,
		[record(1, "M05.40", "ICD10CM"), record(2, "v700", "ICD9CM"), record(3, "nowhere", null)],
		"days",
	);
	expect(events.map(({ token }) => token)).toEqual([arthritis]);
	expect(unknown).toEqual([
		{ place: 1, code: "V70.0", system: "ICD9CM", alone: true },
		{ place: 2, code: "nowhere", system: null, alone: true },
		{ place: 0, code: "359", system: "PheCode", alone: false },
	]);
});

test("reads a patient without records", () => {
	const { patient, places } = reader().patient("p", { ...nothingKnown, birth: -5 }, [], "days");
	expect(patient).toMatchObject({ birth: -5, lastRecord: null });
	expect([...patient.history.times]).toEqual([-5]);
	expect(places).toEqual([-1]);
});

test("runs in a browser page", () => {
	const src = fileURLToPath(new URL("../../../", import.meta.url));
	const files = new Map(
		readdirSync(src, { recursive: true, encoding: "utf8" })
			.filter((name) => /^(base|data)\/.*(?<!\.test)\.ts$/.test(name))
			.map((name) => [name, readFileSync(`${src}${name}`, "utf8")] as const),
	);
	const modules = [
		...readdirSync(`${src}data/cohort/reading`)
			.filter((name) => !name.includes(".test."))
			.map((name) => `data/cohort/reading/${name.replace(".ts", ".js")}`),
		// what the page reads files with
		...["fhir/read-in-memory.js", "delimited-rows.js", "dates.js", "tables/column-names.js"].map(
			(name) => `data/records/${name}`,
		),
	];
	files.set(
		"predict/browser/probe.ts",
		modules.map((name) => `import "../../${name}";`).join("\n"),
	);
	expect(checkRooms(files).filter(({ file }) => file === "predict/browser/probe.ts")).toEqual([]);
});
