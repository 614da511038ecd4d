import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import type { PatientColumns } from "./patients.js";
import type { PeriodColumns } from "./periods.js";
import type { Token } from "./vocabulary.js";

/** Hashes the columns of the events (little-endian bytes), chunk by chunk in order. */
export function eventsHasher() {
	const time = createHash("sha256");
	const token = createHash("sha256");
	return {
		add(times: Uint8Array, tokens: Uint8Array) {
			time.update(times);
			token.update(tokens);
		},
		digest: () => createHash("sha256").update(time.digest()).update(token.digest()).digest("hex"),
	};
}

/**
 * A hash of the content alone, independent of file encoding and source. Datasets of schema version 3 have no
 * periods.
 */
export function contentHash(
	tokens: readonly Token[],
	patients: PatientColumns,
	eventsHash: string,
	periods: PeriodColumns | undefined,
): string {
	const hash = createHash("sha256");
	for (const { kind, code, system, name, category, count, value } of tokens) {
		const range = value && [
			...[value.code, value.name, value.unit],
			...[value.low, value.high, value.quantile, value.of],
		];
		const token = [kind, code, system, name, category, count, ...(range ?? [])];
		hash.update(`${JSON.stringify(token)}\n`);
	}
	const { id, birth, sex, death, split, first, count } = patients;
	for (const at of id.keys()) {
		const row = [id[at], birth[at], sex[at], death[at], split[at], first[at], count[at]];
		hash.update(`${JSON.stringify(row)}\n`);
	}
	hash.update(eventsHash);
	if (periods)
		for (const { buffer, byteOffset, byteLength } of [periods.patient, periods.start, periods.end])
			hash.update(new Uint8Array(buffer, byteOffset, byteLength));
	return hash.digest("hex");
}

export async function fileHash(file: string): Promise<string> {
	const hash = createHash("sha256");
	for await (const bytes of createReadStream(file, { highWaterMark: 1 << 20 })) hash.update(bytes);
	return hash.digest("hex");
}
