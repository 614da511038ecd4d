import { writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../data/records/testing/temporary-folder.js";
import type { ParameterValues } from "../index.js";
import { withKeptPrior } from "./kept-prior.js";

const weightsOf = (prior: number, other: number): ParameterValues =>
	new Map([
		["hazards.prior.bias", { shape: [2], data: Float32Array.of(prior, prior + 1) }],
		["hazards.prior.gain", { shape: [2], data: Float32Array.of(other, other) }],
		["hazards.onset.state", { shape: [1], data: Float32Array.of(other) }],
	]);

test("a prior is fitted once; other runs on the same data take it and keep their other weights", async () => {
	const folder = join(await temporaryFolder(), "priors");
	let fits = 0;
	const run = (of: unknown, other: number) =>
		withKeptPrior(weightsOf(0, other), { folder, of }, async () => {
			fits++;
			return weightsOf(5 + fits, other);
		});
	expect(await run({ data: "a" }, 1)).toEqual(weightsOf(6, 1));
	expect(await run({ data: "a" }, 2)).toEqual(weightsOf(6, 2));
	expect(fits).toBe(1);
	expect(await run({ data: "b" }, 3)).toEqual(weightsOf(7, 3));
	expect(fits).toBe(2);

	const [file] = await readdir(folder);
	writeFileSync(join(folder, file), "damaged");
	await expect(Promise.all([run({ data: "a" }, 1), run({ data: "b" }, 1)])).rejects.toThrow(
		join(folder, file),
	);
});
