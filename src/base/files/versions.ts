import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

interface Package {
	readonly version: string;
	readonly engines: { readonly node: string };
}

/** This package's package.json, two folders up from both src/base/files and dist/base/files. */
export const ownPackage = JSON.parse(
	readFileSync(new URL("../../../package.json", import.meta.url), "utf8"),
) as Package;

/** Read from its package: the engine itself is loaded only to compute. */
function onnxruntimeVersion(): string {
	const file = createRequire(import.meta.url).resolve("onnxruntime-node/package.json");
	return (JSON.parse(readFileSync(file, "utf8")) as Package).version;
}

/** The versions that numbers depend on, as runs and evaluations record them. */
export function versions(): Record<string, string> {
	return {
		trajgpt: ownPackage.version,
		node: process.versions.node,
		onnxruntime: onnxruntimeVersion(),
	};
}
