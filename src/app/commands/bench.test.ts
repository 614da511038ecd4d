import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../data/records/testing/temporary-folder.js";
import { loadBench } from "./bench.js";
import { captured } from "./testing/captured.js";

test("the package does not contain the benchmarks", async () => {
	const root = new URL("../../../package.json", import.meta.url);
	const { name, version, files } = JSON.parse(await readFile(root, "utf8"));
	const folder = await temporaryFolder();
	const kept = [
		...["dist/bin/bench-1.js", "dist/bin/trajgpt.js"],
		...["dist/app/commands/bench.js", "dist/app/commands/main.js", "dist/engine/runtime/node.js"],
	];
	const left = [
		...[
			"dist/bin/benchmark-step-1.js",
			"dist/app/commands/bench/step.js",
			"dist/engine/runtime/audit/index.js",
		],
		"bench/peers/prepare.py",
	];
	for (const path of [...kept, ...left]) {
		await mkdir(dirname(join(folder, path)), { recursive: true });
		await writeFile(join(folder, path), "");
	}
	await writeFile(join(folder, "package.json"), JSON.stringify({ name, version, files }));
	const pack = ["pack", "--dry-run", "--json", "--ignore-scripts"];
	const { stdout } = await promisify(execFile)("npm", pack, { cwd: folder });
	const [packed] = JSON.parse(stdout) as [{ files: { path: string }[] }];
	expect(packed.files.map(({ path }) => path).sort()).toEqual([...kept, "package.json"]);
});

test.each([
	["--help", 0, "stdout"],
	["step --help", 0, "stdout"],
	["step --preset tiny", 2, "stderr"],
] as const)("bench %s in the package says where benchmarks run", async (words, code, stream) => {
	const bench = { name: "bench", summary: "measure speed", load: () => loadBench(false) };
	const written = await captured(["bench", ...words.split(" ")], { table: [bench] });
	expect(written.code).toBe(code);
	expect(written[stream].replaceAll(/\s+/g, " ")).toContain(
		"in a clone of the repository: npm run build, then npx trajgpt bench --help",
	);
});
