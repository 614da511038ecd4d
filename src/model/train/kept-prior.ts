import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { replaceFile } from "../../base/files/index.js";
import { priorWeights } from "../hazards/head.js";
import type { ParameterValues } from "../index.js";
import { decodeSafetensors, encodeSafetensors, type StoredTensor } from "./safetensors.js";
import { floatWeights } from "./trained.js";

/** Where priors of hazards are kept for other runs. */
export interface KeptPriors {
	readonly folder: string;
	/** What a prior depends on; it is the same for all models and seeds. */
	readonly of: unknown;
}

/** Weights with the prior that is kept, or with one that is fitted and then kept. */
export async function withKeptPrior(
	weights: ParameterValues,
	{ folder, of }: KeptPriors,
	fit: () => Promise<ParameterValues>,
): Promise<ParameterValues> {
	const name = createHash("sha256").update(JSON.stringify(of)).digest("hex").slice(0, 16);
	const file = join(folder, `${name}.safetensors`);
	if (existsSync(file)) {
		const { tensors } = decodeSafetensors(readFileSync(file), file);
		return new Map([...weights, ...floatWeights(tensors, file)]);
	}
	const fitted = await fit();
	const kept = priorWeights(fitted).map(([name, { shape, data }]): [string, StoredTensor] => [
		name,
		{ dtype: "F32", shape, data },
	]);
	await replaceFile(file, (partial) =>
		writeFile(partial, Buffer.concat(encodeSafetensors(new Map(kept)))),
	);
	return fitted;
}
