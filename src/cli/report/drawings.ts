import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Figure, svgOf } from "../../figures/index.js";
import type { DrawnFigure } from "../../figures/report/index.js";
import { replaceFile } from "../../files/index.js";
import { nodeDocument, pngOf } from "../png.js";

/** Draws figures for the page, and into files of a folder. */
export interface Drawings {
	draw(id: string, figure: Figure, caption: string): Promise<DrawnFigure>;
	/** Files written so far. */
	readonly files: readonly string[];
}

export async function drawingsIn(folder: string): Promise<Drawings> {
	const document = await nodeDocument();
	const files: string[] = [];
	const write = async (name: string, bytes: string | Uint8Array) => {
		const file = join(folder, name);
		await replaceFile(file, (partial) => writeFile(partial, bytes));
		files.push(file);
	};
	return {
		files,
		async draw(id, figure, caption) {
			const svg = svgOf(figure, document);
			await write(`${id}.svg`, svg);
			await write(`${id}.png`, await pngOf(svg));
			return {
				id: `figure-${id}`,
				title: figure.title,
				svg: svgOf(figure, document, { ids: `${id}-` }),
				caption,
			};
		},
	};
}
