import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const main = fileURLToPath(new URL("../../../dist/bin/trajgpt.js", import.meta.url));

test("the built command returns its exit code", async () => {
	const { code, stderr } = await finished(["no-such-command"]);
	expect(stderr).toMatch(/^error: unknown command/);
	expect(code).toBe(2);
});

test("a closed output pipe is not a failure", async () => {
	expect(await finished(["--help"], { readerLeaves: true })).toEqual({ code: 0, stderr: "" });
});

function finished(argv: readonly string[], { readerLeaves = false } = {}) {
	const child = spawn(process.execPath, [main, ...argv], { stdio: ["ignore", "pipe", "pipe"] });
	if (readerLeaves) child.stdout.destroy();
	else child.stdout.resume();
	let stderr = "";
	child.stderr.on("data", (chunk) => {
		stderr += chunk;
	});
	return new Promise<{ code: number | null; stderr: string }>((resolve) => {
		child.on("close", (code) => resolve({ code, stderr }));
	});
}
