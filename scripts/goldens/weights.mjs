// Weights of runs: their norms and hashes, and weights that are the same on every processor.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { uniform } from "./extract.mjs";

export const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");

/** The tensors of a safetensors file, as views of its bytes. */
function tensorsIn(bytes) {
	const start = 8 + Number(bytes.readBigUInt64LE(0));
	const { __metadata__, ...header } = JSON.parse(bytes.subarray(8, start).toString());
	return Object.entries(header)
		.sort(([a], [b]) => (a < b ? -1 : 1))
		.flatMap(([name, { dtype, shape, data_offsets }]) => {
			if (dtype !== "F32") return [];
			const [begin, end] = data_offsets;
			return [{ name, shape, bytes: bytes.subarray(start + begin, start + end) }];
		});
}

/** The norm of each weight, by its name. */
export function normsOf(file) {
	return Object.fromEntries(
		tensorsIn(readFileSync(file)).map(({ name, bytes }) => {
			let squares = 0;
			for (let at = 0; at < bytes.length; at += 4) squares += bytes.readFloatLE(at) ** 2;
			return [name, Math.sqrt(squares)];
		}),
	);
}

/** Adds the same noise to the matrices of every run: trained weights differ between processors, these do not. */
export function setWeights(run, seed) {
	const file = join(run, "best", "state.safetensors");
	const meta = join(run, "best", "meta.json");
	const bytes = readFileSync(file);
	const before = sha256(bytes);
	const next = uniform(seed);
	for (const tensor of tensorsIn(bytes)) {
		if (tensor.shape.length < 2) continue;
		const scale = 2 / Math.sqrt(tensor.shape.at(-1));
		for (let at = 0; at < tensor.bytes.length; at += 4) {
			const initial = Math.round(tensor.bytes.readFloatLE(at) * 1024) / 1024;
			tensor.bytes.writeFloatLE(initial + scale * (next() - 0.5), at);
		}
	}
	writeFileSync(file, bytes);
	writeFileSync(
		meta,
		readFileSync(meta, "utf8").replace(before, () => sha256(bytes)),
	);
}
