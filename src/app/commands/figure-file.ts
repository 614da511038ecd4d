import { access, constants, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, resolve } from "node:path";
import { InputError } from "../../base/errors.js";
import { formatOf } from "../../base/files/column-file.js";
import { replaceFile } from "../../base/files/index.js";
import { errorCode, systemRefusal } from "../../base/system-errors.js";
import type { Figure } from "../../evaluate/charts/figure.js";
import type { FigureDocument } from "../../evaluate/charts/svg.js";
import { checkOutputFile } from "../../model/train/output-file.js";

/** Rejects a figure file that cannot be written; call it before long work. */
export async function checkFigureTarget(file: string, force: boolean): Promise<void> {
	figureFormat(file);
	await checkOutputFile(file, force);
	await checkFolderWritable(file, dirname(resolve(file)));
}

/** Checks the folder, or its nearest existing parent. */
async function checkFolderWritable(file: string, folder: string): Promise<void> {
	try {
		await access(folder, constants.W_OK);
	} catch (error) {
		if (errorCode(error) === "ENOENT" && dirname(folder) !== folder)
			return checkFolderWritable(file, dirname(folder));
		throw new InputError(
			`cannot write ${file}: ${systemRefusal(error) ?? (error as Error).message}`,
			{
				cause: error,
			},
		);
	}
}

const figureFormat = (file: string) => formatOf(file, ["svg", "png"], "draw");

/** Writes a figure to a file; the extension selects the format. */
export async function writeFigure(file: string, figure: Figure): Promise<void> {
	const format = figureFormat(file);
	const { svgOf } = await import("../../evaluate/charts/svg.js");
	const svg = svgOf(figure, await nodeDocument());
	const bytes = format === "svg" ? svg : await pngOf(svg);
	await replaceFile(file, (partial) => writeFile(partial, bytes));
}

const require = createRequire(import.meta.url);

/** Arimo has the widths of Arial, which figures are laid out for, and Latin, Greek and Cyrillic letters. */
const fontFiles = () => [
	require.resolve("@expo-google-fonts/arimo/400Regular/Arimo_400Regular.ttf"),
	require.resolve("@expo-google-fonts/arimo/700Bold/Arimo_700Bold.ttf"),
];

/** Letters that the font may lack; texts with them use system fonts too. */
const foreign = /[\u0530-\u1dff\u2300-\ufffc]/;

/** Dots per pixel: sharp on paper at half a page's width, and on high-density screens. */
const scale = 2;

/** An SVG drawing as PNG, independent of the machine's fonts. */
export async function pngOf(svg: string): Promise<Uint8Array> {
	const { Resvg } = await import("@resvg/resvg-js");
	const drawing = new Resvg(svg, {
		fitTo: { mode: "zoom", value: scale },
		font: {
			fontFiles: fontFiles(),
			loadSystemFonts: foreign.test(svg),
			defaultFontFamily: "Arimo",
			sansSerifFamily: "Arimo",
		},
	});
	return drawing.render().asPng();
}

export async function nodeDocument(): Promise<FigureDocument> {
	const { parseHTML } = await import("linkedom");
	return parseHTML("<!doctype html><html></html>").document as unknown as FigureDocument;
}
