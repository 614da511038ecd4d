import { readFileSync } from "node:fs";

interface Package {
	readonly version: string;
	readonly engines: { readonly node: string };
}

/** This package's package.json, two folders up from both src/workflows and dist/workflows. */
export const ownPackage = JSON.parse(
	readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
) as Package;

/** The versions that numbers depend on, as runs and evaluations record them. */
export async function versions(): Promise<Record<string, string>> {
	const { engineVersion } = await import("../runtime/node.js");
	return {
		trajgpt: ownPackage.version,
		node: process.versions.node,
		onnxruntime: engineVersion,
	};
}
