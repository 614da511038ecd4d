// Writes brotli and gzip forms beside the files that a page loads; the service sends them in their place.
import { readFileSync, writeFileSync } from "node:fs";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

const compressible = /\.(?:css|html|js|mjs|svg|wasm)$/;
/** Only WebGPU needs it, which the explorer does not use: 12 MB less in the package. */
const omitted = /asyncify\.wasm$/;

/** A higher quality makes the engine's WebAssembly 5 % smaller, and takes four times as long. */
const qualityFor = (/** @type {number} */ bytes) => (bytes > 2 ** 21 ? 5 : 10);

export async function compressFiles(/** @type {readonly string[]} */ paths) {
	await Promise.all(
		paths
			.filter((path) => compressible.test(path) && !omitted.test(path))
			.map(async (path) => {
				const bytes = readFileSync(path);
				const params = { [constants.BROTLI_PARAM_QUALITY]: qualityFor(bytes.length) };
				writeFileSync(`${path}.br`, await promisify(brotliCompress)(bytes, { params }));
				writeFileSync(`${path}.gz`, await promisify(gzip)(bytes));
			}),
	);
}
