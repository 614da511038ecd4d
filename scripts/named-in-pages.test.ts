import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../", import.meta.url));
const read = (file: string) => readFileSync(`${root}${file}`, "utf8");

/** Paths in a page that are relative to the root or to `src/`; in the page of a wing also the end of a path. */
const path = "`(?<path>[\\w.-]+/[\\w./-]+\\.(?:tsx?|mjs))`";
const pathInWing = "`(?<path>[\\w./-]+\\.(?:tsx?|mjs))`";
const names = "(?<names>`\\w+`(?:, `\\w+`)*)";

/** The files that a page names, with what it says is in them: `path`: `name`, or `name` (`path`). */
const namedIn = (page: string, path: string) =>
	[`${path}(?:: ${names})?`, `${names} \\(${path}\\)`].flatMap((form) =>
		Array.from(page.matchAll(new RegExp(form, "g")), ({ groups }) => ({
			path: groups?.path as string,
			names: groups?.names?.match(/\w+/g) ?? [],
		})),
	);

/** The paths of a page that do not exist, and the names that are not in their file. */
const wrongIn = (page: string, path: string, fileAt: (path: string) => string | undefined) =>
	namedIn(read(page), path).flatMap(({ path, names }) => {
		const file = fileAt(path);
		if (file === undefined) return [path];
		const words = new Set(read(file).match(/\w+/g));
		return names.filter((name) => !words.has(name)).map((name) => `${path}: ${name}`);
	});

const pages = ["CONTRIBUTING.md", "docs/architecture.md", "docs/paper-to-code.md"];

test.each(pages)("every path in %s exists, and holds what the page names in it", (page) => {
	const fileAt = (path: string) =>
		[path, `src/${path}`].find((file) => existsSync(`${root}${file}`));
	expect(wrongIn(page, path, fileAt)).toEqual([]);
});

const wings = readdirSync(`${root}src`, { withFileTypes: true })
	.filter((entry) => entry.isDirectory())
	.map(({ name }) => `src/${name}`);

test.each([...wings, "web"])(
	"every file that %s/README.md names exists, with its names",
	(wing) => {
		const files = [wing, "src", "bench"].flatMap((folder) =>
			readdirSync(`${root}${folder}`, { recursive: true }).map((file) => `${folder}/${file}`),
		);
		const fileAt = (path: string) => files.find((file) => `/${file}`.endsWith(`/${path}`));
		expect(wrongIn(`${wing}/README.md`, pathInWing, fileAt)).toEqual([]);
	},
);
