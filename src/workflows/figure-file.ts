import { access, constants, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, extname, resolve } from "node:path";
import { InputError } from "../base/errors.js";
import { errorCode, systemRefusal } from "../base/system-errors.js";
import type { Figure, FigureDocument } from "../figures/index.js";
import { checkFileTarget, replaceFile } from "../files/index.js";

/** Throws unless a figure can be written there. Worth asking before long work begins. */
export async function checkFigureTarget(file: string, force: boolean): Promise<void> {
	formatOf(file);
	await checkFileTarget(file, force);
	await checkFolderWritable(file, dirname(resolve(file)));
}

/** The folder, or the nearest above it that is there. */
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

function formatOf(file: string): "svg" | "png" {
	const extension = extname(file).toLowerCase();
	if (extension === ".svg") return "svg";
	if (extension === ".png") return "png";
	throw new InputError(
		`${file}: cannot tell how to draw ${extension === "" ? "a file without an extension" : `a ${extension} file`}; expected a name that ends in .svg or .png`,
	);
}

/** Draws a figure into a file of the format its name tells. */
export async function writeFigure(file: string, figure: Figure): Promise<void> {
	const format = formatOf(file);
	const { svgOf } = await import("../figures/index.js");
	const svg = svgOf(figure, await nodeDocument());
	const bytes = format === "svg" ? svg : await pngOf(svg);
	await replaceFile(file, (partial) => writeFile(partial, bytes));
}

const require = createRequire(import.meta.url);

/** Have the widths of Arial, which figures are laid out for, and Latin, Greek and Cyrillic letters. */
const fontFiles = () => [
	require.resolve("@expo-google-fonts/arimo/400Regular/Arimo_400Regular.ttf"),
	require.resolve("@expo-google-fonts/arimo/700Bold/Arimo_700Bold.ttf"),
];

/** Letters that the font may lack: then fonts of the machine are asked too. */
const foreign = /[\u0530-\u1dff\u2300-\ufffc]/;

/** Dots a pixel: sharp on paper at half the width of a page, and on dense screens. */
const scale = 2;

/** A drawing as PNG, the same on every machine, fonts or not. */
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

/** A document for figures outside a browser. */
export async function nodeDocument(): Promise<FigureDocument> {
	const { parseHTML } = await import("linkedom");
	return parseHTML("<!doctype html><html></html>").document as unknown as FigureDocument;
}
