import { execFileSync } from "node:child_process";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../data/records/testing/temporary-folder.js";
import { refusal } from "./testing/captured.js";

const tmpfs = (folder: string) => {
	try {
		execFileSync("mount", ["-t", "tmpfs", "-o", "size=600k", "tmpfs", folder], {
			stdio: "ignore",
		});
		onTestFinished(() => void execFileSync("umount", [folder], { stdio: "ignore" }));
		return true;
	} catch {
		return false;
	}
};
test("prepare says that the disk is full, and leaves nothing", async ({ skip }) => {
	const folder = await temporaryFolder();
	const disk = join(folder, "disk");
	await mkdir(disk);
	if (!tmpfs(disk)) skip("no right to mount a small disk");
	const rows = Array.from({ length: 40_000 }, (_, i) => `p${i % 977},2020-01-01,${i}x${i * 7}\n`);
	await writeFile(join(folder, "c.csv"), `patient,date,code\n${rows.join("")}`);
	const argv = ["--from", "csv", "--system", "snomed", "--min-count", "1"];
	expect(
		await refusal`prepare ${join(folder, "c.csv")} ${argv} --out ${join(disk, "dataset")}`,
	).toContain("the disk is full");
	expect(await readdir(disk)).toEqual([]);
});
