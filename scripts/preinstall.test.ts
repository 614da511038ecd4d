import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { temporaryFolder } from "../src/data/records/testing/temporary-folder.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const installed = (name: string) => join(root, "node_modules", name);
const platform = `${process.platform}/${process.arch}`;

/** A project in which trajgpt and onnxruntime-node are installed, as far as their install scripts go. */
async function project() {
	const modules = join(await temporaryFolder(), "node_modules");
	const own = join(modules, "trajgpt", "scripts");
	const engine = join(modules, "onnxruntime-node");
	const binaries = join(engine, "bin", "napi-v6", platform);
	for (const folder of [own, binaries]) mkdirSync(folder, { recursive: true });
	cpSync(join(root, "scripts", "preinstall.mjs"), join(own, "preinstall.mjs"));
	for (const part of ["package.json", "script"])
		cpSync(join(installed("onnxruntime-node"), part), join(engine, part), { recursive: true });
	for (const name of ["adm-zip", "global-agent"]) symlinkSync(installed(name), join(modules, name));
	/** Runs an install script. A download would fail: the proxy is a closed port. */
	const run = (script: string) =>
		spawnSync(process.execPath, [join(modules, script)], {
			encoding: "utf8",
			env: {
				GLOBAL_AGENT_HTTP_PROXY: "http://127.0.0.1:1",
				GLOBAL_AGENT_HTTPS_PROXY: "http://127.0.0.1:1",
			},
		});
	return { run, binaries };
}

test("onnxruntime-node downloads nothing after the preinstall script", async () => {
	const { run, binaries } = await project();
	const downloads = platform === "linux/x64";
	expect(run("onnxruntime-node/script/install.js").status === 0).toBe(!downloads);
	expect(run("trajgpt/scripts/preinstall.mjs")).toMatchObject({ status: 0, stderr: "" });
	expect(readdirSync(binaries)).toHaveLength(downloads ? 3 : 0);
	expect(run("onnxruntime-node/script/install.js")).toMatchObject({ status: 0, stderr: "" });
});
