import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

const files = ["src", "web", "scripts", "bench"].flatMap((folder) =>
	readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
		.filter((name) => /(?<!\.test)\.(ts|tsx|mjs|js)$/.test(name))
		.map((name) => join(folder, name)),
);

/** Calls of replace and replaceAll whose replacement is a text that the program makes. */
function madeReplacements(file: string, text: string): string[] {
	const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
	const found: string[] = [];
	const visit = (node: ts.Node) => {
		ts.forEachChild(node, visit);
		if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return;
		if (!/^replace(All)?$/.test(node.expression.name.text)) return;
		const [, replacement] = node.arguments;
		if (!replacement || ts.isStringLiteralLike(replacement)) return;
		if (ts.isArrowFunction(replacement) || ts.isFunctionExpression(replacement)) return;
		const { line } = source.getLineAndCharacterOfPosition(node.getStart());
		found.push(`${file}:${line + 1}: ${replacement.getText()}`);
	};
	visit(source);
	return found;
}

test("a replacement is a literal or a function, because $& in a text would be replaced too", () => {
	expect(madeReplacements("a.ts", 'a.replace("x", y); a.replaceAll("x", y + z);')).toHaveLength(2);
	expect(madeReplacements("a.ts", 'a.replace("x", "y"); a.replace("x", () => y);')).toEqual([]);
	expect(files.length).toBeGreaterThan(500);
	const found = files.flatMap((file) => {
		const text = readFileSync(join(root, file), "utf8");
		return /\.replace(All)?\(/.test(text) ? madeReplacements(file, text) : [];
	});
	expect(found).toEqual([]);
});
