import { theme } from "./theme.js";

/** Advance widths of Arial, in thousandths of the type size. */
const widths: Readonly<Record<number, string>> = {
	191: "'",
	222: "ijl",
	260: "|",
	278: " !,./:;I[\\]ft\u00a0",
	333: "()-`r·²³",
	334: "{}",
	355: '"',
	389: "*",
	469: "^",
	500: "Jcksvxyz",
	556: "#$0123456789?L_abdeghnopqu–",
	549: "±≤≥≈",
	584: "+<=>~−×",
	611: "FTZß",
	667: "&ABEKPSVXY",
	722: "CDHNRUw",
	778: "GOQ",
	833: "Mm",
	889: "%",
	944: "W",
	1000: "…—←→↑↓",
	1015: "@",
};
const widthOfCharacter = new Map(
	Object.entries(widths).flatMap(([width, characters]) =>
		[...characters].map((character) => [character, Number(width)] as const),
	),
);
const elsewhere = 600;
const ideograph = 1000;

export interface Type {
	readonly size: number;
	readonly bold?: boolean;
}

/** Of most texts in a plot, and where no other type is stated. */
const tickType: Type = { size: theme.size.tick };
export const boldType: Type = { ...tickType, bold: true };

/** Estimated width of a line of text in pixels, without a browser; rather too wide than too narrow. */
export function textWidth(text: string, { size, bold } = tickType): number {
	let width = 0;
	for (const character of text.normalize("NFC")) {
		const plain = character.normalize("NFD")[0];
		const wide = character.codePointAt(0)! >= 0x2e80;
		width += widthOfCharacter.get(plain) ?? (wide ? ideograph : elsewhere);
	}
	return (width * size * (bold ? 1.1 : 1)) / 1000;
}

/** The width of the widest of some lines, in whole pixels. */
export const widest = (texts: readonly string[], type = tickType): number =>
	Math.ceil(Math.max(...texts.map((text) => textWidth(text, type))));

/** The text, or as much of its beginning as fits, with an ellipsis. */
export function fitted(text: string, width: number, type = tickType): string {
	if (textWidth(text, type) <= width) return text;
	const characters = [...text];
	while (characters.length > 0 && textWidth(`${characters.join("")}…`, type) > width)
		characters.pop();
	return `${characters.join("").replace(/[\s,;:·/-]+$/, "")}…`;
}

/** Lines that fit, broken at spaces; a word too long for a line is cut. */
export function wrapped(text: string, width: number, type = tickType): string[] {
	const lines: string[] = [];
	for (const word of text.split(/\s+/)) {
		const longer = lines.length > 0 ? `${lines.at(-1)} ${word}` : word;
		if (lines.length > 0 && textWidth(longer, type) <= width) lines[lines.length - 1] = longer;
		else lines.push(fitted(word, width, type));
	}
	return lines;
}
