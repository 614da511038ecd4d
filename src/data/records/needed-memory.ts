import { stat } from "node:fs/promises";

/** Bytes of a table of records in memory per byte of the file that it was read from: some are packed. */
const bytesPerByte = (file: string): number => {
	if (/\.parquet$/i.test(file)) return 24;
	return /\.gz$/i.test(file) ? 20 : 3;
};

/** About how many bytes the records of files take in memory. */
export async function neededMemory(files: readonly string[]): Promise<number> {
	let bytes = 0;
	for (const file of files) {
		const found = await stat(file).catch(() => undefined);
		bytes += bytesPerByte(file) * (found?.size ?? 0);
	}
	return bytes;
}
