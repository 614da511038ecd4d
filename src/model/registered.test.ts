import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ablations, models } from "./index.js";

test("every model has a conformance test", () => {
	const folder = new URL("./", import.meta.url);
	const tests = readdirSync(folder, { recursive: true, encoding: "utf8" })
		.filter((file) => file.endsWith(".test.ts"))
		.map((file) => readFileSync(new URL(file, folder), "utf8"));
	const covers = (id: string) => tests.some((text) => text.includes(`conformance("${id}")`));
	for (const { id } of [...models, ...ablations]) expect(covers(id), id).toBe(true);
});
