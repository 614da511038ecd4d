import { open } from "node:fs/promises";
import { readBytes } from "./bytes.js";

/**
 * The layout of the lines of a file. DuckDB's parallel reader silently drops rows next to many megabytes of empty
 * lines, or if the last row is longer than its buffers. A file whose samples are all even has neither.
 */
export type Layout = "even" | "empty lines" | "long rows";

const sampleBytes = 2 ** 16;
const sampleEvery = 2 ** 20;

function layoutOf(sample: Buffer): Layout {
	if (["\n\n", "\r\r", "\n\r"].some((empty) => sample.includes(empty))) return "empty lines";
	return sample.includes(10) || sample.includes(13) ? "even" : "long rows";
}

const worse = (a: Layout, b: Layout): Layout => (a === "long rows" || b === "even" ? a : b);

export async function layoutOnDisk(file: string): Promise<Layout> {
	const handle = await open(file, "r");
	try {
		const { size } = await handle.stat();
		const sample = Buffer.alloc(sampleBytes);
		let layout: Layout = "even";
		for (let at = 0; at + sampleBytes <= size; at += sampleEvery) {
			const { bytesRead } = await handle.read(sample, 0, sampleBytes, at);
			layout = worse(layout, layoutOf(sample.subarray(0, bytesRead)));
			if (layout === "long rows") break;
		}
		return layout;
	} finally {
		await handle.close();
	}
}

/** Reads the whole file so that zlib checks lengths and checksums, which DuckDB does not. */
export async function layoutWhenUnpacked(file: string): Promise<Layout> {
	let layout: Layout = "even";
	for await (const bytes of readBytes(file)) {
		if (bytes.length < sampleBytes) continue;
		const sample = Buffer.from(bytes.buffer, bytes.byteOffset, sampleBytes);
		layout = worse(layout, layoutOf(sample));
	}
	return layout;
}
