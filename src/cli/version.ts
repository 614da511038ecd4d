import { readFileSync } from "node:fs";

interface Package {
	readonly version: string;
	readonly engines: { readonly node: string };
}

/** Our own package.json, two folders up from src/cli and from dist/cli alike. */
export const ownPackage = JSON.parse(
	readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
) as Package;
