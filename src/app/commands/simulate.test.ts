import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../data/records/testing/temporary-folder.js";
import { done, refusal, words } from "./testing/captured.js";
import { runBuilt } from "./testing/run-built.js";

test("simulate writes the same files with any number of threads", async () => {
	const place = await temporaryFolder();
	const argv = (out: string, threads: number) =>
		words`simulate --patients 1100 --seed 4 --format parquet --threads ${threads} --out ${join(place, out)}`;
	const several = await runBuilt(argv("several", 2));
	expect(several).toMatchObject({ code: 0 });
	expect(several.stdout).toContain("1100 people");
	expect(several.stderr).toContain("simulating: person 1100/1100");
	await done(argv("one", 1));
	const names = await readdir(join(place, "one"));
	expect(names.sort()).toEqual([
		...["claims.parquet", "codes.csv", "coverage.parquet", "people.parquet"],
		...["prescriptions.parquet", "truth.json"],
	]);
	for (const name of names) {
		const one = await readFile(join(place, "one", name));
		expect(one.equals(await readFile(join(place, "several", name)))).toBe(true);
	}
	expect(await readdir(place)).toEqual(["one", "several"]);
});

test("--force replaces a simulation of another format, but no folder with files of others", async () => {
	const out = join(await temporaryFolder(), "sim");
	const simulate = words`simulate --patients 20 --out ${out}`;
	await done(simulate);
	await done`${simulate} --format parquet --force`;
	expect(await readdir(out)).not.toContain("claims.csv");
	await mkdir(join(out, "data"));
	expect(await refusal`${simulate} --force`).toBe(
		`error: ${out} holds data, which --force would remove; move it away, or choose another folder\n`,
	);
	expect(await readdir(out)).toContain("data");
});
