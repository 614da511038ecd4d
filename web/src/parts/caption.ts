import { fitted, textWidth } from "../../../src/evaluate/charts/text.js";

/** The legend of a copied drawing. */
export type Caption = readonly {
	readonly text: string;
	/** Begins a line, and is broken into several if it is long. */
	readonly paragraph?: boolean;
	/** Colour of the text. */
	readonly colour?: string;
	/** Drawn before the text, centred on its origin. */
	readonly symbol?: { readonly path: string; readonly fill: string; readonly stroke: string };
}[];

export interface PlacedItem {
	readonly text: string;
	readonly x: number;
	readonly y: number;
}

const [margin, titleHeight, lineHeight, gap, symbolRoom] = [12, 30, 18, 18, 14];
const size = 12;

/** Where Arial is missing, its substitutes are wider by up to so much. */
const widest = 1.17;
const roomFor = (text: string) => widest * textWidth(text, { size });

/** Breaks paragraphs into lines that fit. */
export const withBrokenLines = (caption: Caption, width: number): Caption =>
	caption.flatMap((item) => {
		if (!item.paragraph) return [item];
		const lines: string[] = [];
		for (const word of item.text.split(" ")) {
			const longer = `${lines.at(-1)} ${word}`;
			if (lines.length > 0 && roomFor(longer) <= width - 2 * margin)
				lines[lines.length - 1] = longer;
			else lines.push(word);
		}
		return lines.map((text) => ({ ...item, text }));
	});

/** Wraps the items into lines below a title, and returns the total height. */
export function placeCaption(
	caption: Caption,
	width: number,
): { readonly items: readonly PlacedItem[]; readonly height: number } {
	let [x, y] = [margin, titleHeight + size];
	const items = caption.map(({ text, symbol, paragraph }) => {
		const room = symbol ? symbolRoom : 0;
		const words = fitted(text, (width - 2 * margin - room) / widest, { size });
		const own = room + roomFor(words);
		if (x > margin && (paragraph || x + own > width - margin)) [x, y] = [margin, y + lineHeight];
		const placed = { text: words, x, y };
		x += paragraph ? width : own + gap;
		return placed;
	});
	return { items, height: (items.length > 0 ? y : titleHeight) + gap / 2 };
}

/** Adds title and caption to a drawing, and returns their height. */
export function drawCaption(
	svg: SVGSVGElement,
	title: string,
	given: Caption,
	{ width, ink, font }: { readonly width: number; readonly ink: string; readonly font: string },
	/** Resolves CSS variables to a colour. */
	resolved: (colour: string) => string,
): number {
	const add = (name: string, values: Readonly<Record<string, string | number>>, text?: string) => {
		const element = document.createElementNS("http://www.w3.org/2000/svg", name);
		for (const [key, value] of Object.entries(values)) element.setAttribute(key, `${value}`);
		if (text !== undefined) element.textContent = text;
		svg.append(element);
	};
	const words = { "font-family": font, fill: ink };
	add("text", { ...words, x: margin, y: 20, "font-size": 15, "font-weight": "bold" }, title);
	const caption = withBrokenLines(given, width);
	const { items, height } = placeCaption(caption, width);
	for (const [at, { text, x, y }] of items.entries()) {
		const { colour, symbol } = caption[at] ?? {};
		if (symbol)
			add("path", {
				...{ d: symbol.path, transform: `translate(${x + 5} ${y - 4})`, "stroke-width": 1.4 },
				...{ fill: resolved(symbol.fill), stroke: resolved(symbol.stroke) },
			});
		const fill = colour ? resolved(colour) : ink;
		add("text", { ...words, fill, x: x + (symbol ? symbolRoom : 0), y, "font-size": size }, text);
	}
	return height;
}
