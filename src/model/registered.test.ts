import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { ablations, models } from "./index.js";

test("every model has a conformance test in its folder", () => {
	for (const { id } of [...models, ...ablations])
		expect(existsSync(new URL(`${id}/conformance.test.ts`, import.meta.url)), id).toBe(true);
});
