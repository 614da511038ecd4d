import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

test("the recurrence written out and ONNX's Scan give the same values", () => {
	const script = fileURLToPath(new URL("scan.mjs", import.meta.url));
	const report = JSON.parse(execFileSync(process.execPath, [script, "3"], { encoding: "utf8" }));
	expect(report).toMatchObject({ length: 3, unrolled: { runMs: expect.any(Number) } });
	expect(report.difference).toBeLessThan(1e-5);
});
