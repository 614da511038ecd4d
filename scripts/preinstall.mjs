// Runs where the packed trajgpt is installed, before the install scripts of its dependencies. That of
// onnxruntime-node downloads CUDA libraries from outside the registry unless they are there, and fails
// behind a firewall. trajgpt never loads them, so empty files take their place.
// With ONNXRUNTIME_NODE_INSTALL=cuda12 they are downloaded all the same.
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

try {
	const require = createRequire(import.meta.url);
	const engine = dirname(require.resolve("onnxruntime-node/package.json"));
	const { requirements, manifests } = require(join(engine, "script", "install-metadata.js"));
	const platform = `${process.platform}/${process.arch}`;
	for (const name of requirements[platform] ?? [])
		for (const file of Object.keys(manifests[`${platform}:${name}`]))
			writeFileSync(join(engine, "bin", "napi-v6", platform, file), "", { flag: "a" });
} catch {
	// Another layout of onnxruntime-node: its own script decides.
}
