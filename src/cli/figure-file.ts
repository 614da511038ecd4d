import { access, constants, writeFile } from "node:fs/promises";
import { dirname, extname, resolve } from "node:path";
import { InputError } from "../base/errors.js";
import { errorCode, systemRefusal } from "../base/system-errors.js";
import type { Figure } from "../figures/index.js";
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
	const { nodeDocument, pngOf } = await import("./png.js");
	const svg = svgOf(figure, await nodeDocument());
	const bytes = format === "svg" ? svg : await pngOf(svg);
	await replaceFile(file, (partial) => writeFile(partial, bytes));
}
