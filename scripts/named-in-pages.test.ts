import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../", import.meta.url));
const read = (file: string) => readFileSync(`${root}${file}`, "utf8");

/** Paths in a page that are relative to the root or to `src/`. */
const path = "`(?<path>[\\w.-]+/[\\w./-]+\\.(?:tsx?|mjs))`";
const names = "(?<names>`\\w+`(?:, `\\w+`)*)";

/** The files that a page names, with what it says is in them: `path`: `name`, or `name` (`path`). */
const namedIn = (page: string) =>
	[`${path}(?:: ${names})?`, `${names} \\(${path}\\)`].flatMap((form) =>
		Array.from(page.matchAll(new RegExp(form, "g")), ({ groups }) => ({
			path: groups?.path as string,
			names: groups?.names?.match(/\w+/g) ?? [],
		})),
	);

test.each(["CONTRIBUTING.md", "docs/architecture.md", "docs/paper-to-code.md"])(
	"every path in %s exists, and holds what the page names in it",
	(page) => {
		const wrong = namedIn(read(page)).flatMap(({ path, names }) => {
			const file = [path, `src/${path}`].find((one) => existsSync(`${root}${one}`));
			if (file === undefined) return [path];
			const words = new Set(read(file).match(/\w+/g));
			return names.filter((name) => !words.has(name)).map((name) => `${path}: ${name}`);
		});
		expect(wrong).toEqual([]);
	},
);
