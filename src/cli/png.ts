import { createRequire } from "node:module";
import type { FigureDocument } from "../figures/index.js";

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
