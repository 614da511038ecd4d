import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const importedIn = (text: string): string[] =>
	Array.from(text.matchAll(/from "(\.[^"]+)\.js"/g), ([, path = ""]) => path);

/**
 * Writes a script for a child process, with the compiled files that it imports from src/ ("./base/errors.js"), and those
 * that they import: Node 20 does not run TypeScript.
 */
export function compiled(into: string, script: string): string {
	const source = fileURLToPath(new URL("../../../", import.meta.url));
	const names = new Set(importedIn(script).map((path) => normalize(path)));
	for (const name of names) {
		const text = readFileSync(join(source, `${name}.ts`), "utf8");
		const target = join(into, "js", `${name}.js`);
		const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 };
		const { outputText } = ts.transpileModule(text, { compilerOptions });
		mkdirSync(dirname(target), { recursive: true });
		writeFileSync(target, outputText);
		for (const path of importedIn(outputText)) names.add(join(dirname(name), path));
	}
	writeFileSync(join(into, "package.json"), '{"type":"module"}');
	const file = join(into, "js", "script.js");
	writeFileSync(file, script);
	return file;
}
