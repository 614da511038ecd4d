import { InputError } from "../../base/errors.js";
import type { ReadFile } from "../export/read-export.js";

/** A file that the user chose or dropped; `File` satisfies it. */
export interface PageFile {
	readonly name: string;
	arrayBuffer(): Promise<ArrayBuffer>;
}

/** The URL of an export's folder, or its files. */
export type Source = string | readonly PageFile[];

export const sourceLabel = (source: Source): string =>
	typeof source === "string" ? source : "the set of files";

export const readerOf = (source: Source): ReadFile =>
	typeof source === "string" ? readerFromUrl(source) : fromFiles(source);

/** Reads the files of an export below a URL. */
export function readerFromUrl(folder: string): ReadFile {
	const base = folder.endsWith("/") ? folder : `${folder}/`;
	return async (name) => {
		const url = new URL(name, base).href;
		let response: Response;
		try {
			response = await fetch(url);
		} catch (cause) {
			throw new InputError(
				`${url} cannot be read: no server responds, or it does not allow this page to read it`,
				{ cause },
			);
		}
		if (response.status === 404) return undefined;
		if (!response.ok)
			throw new InputError(
				`${url} cannot be read: the server responds with status ${response.status}`,
			);
		return new Uint8Array(await response.arrayBuffer());
	};
}

const fromFiles =
	(files: readonly PageFile[]): ReadFile =>
	async (name) => {
		const file = files.find((one) => one.name === name);
		return file && new Uint8Array(await file.arrayBuffer());
	};
