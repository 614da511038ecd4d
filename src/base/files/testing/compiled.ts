import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

/**
 * Writes a script for a child process, with the compiled files of src/ that it imports: Node 20 does not run
 * TypeScript. `files` are relative to src/, without extension; `script` imports them from "./".
 */
export function compiled(into: string, files: readonly string[], script: string): string {
	const source = fileURLToPath(new URL("../../../index.js", import.meta.url));
	for (const name of files) {
		const text = readFileSync(join(source, `${name}.ts`), "utf8");
		const target = join(into, "js", `${name}.js`);
		const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 };
		mkdirSync(dirname(target), { recursive: true });
		writeFileSync(target, ts.transpileModule(text, { compilerOptions }).outputText);
	}
	writeFileSync(join(into, "package.json"), '{"type":"module"}');
	const file = join(into, "js", "script.js");
	writeFileSync(file, script);
	return file;
}
