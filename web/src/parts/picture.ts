import { csvField } from "../../../src/base/table.js";
import { fitted, textWidth } from "../../../src/evaluate/charts/text.js";

/** Computed styles that a copied drawing must carry inline. */
const drawn = [
	"fill",
	"fill-opacity",
	"stroke",
	"stroke-width",
	"stroke-dasharray",
	"stroke-linecap",
	"stroke-opacity",
	"opacity",
	"paint-order",
	"font-family",
	"font-size",
	"font-weight",
	"text-anchor",
	"dominant-baseline",
] as const;

/** A drawing as a self-contained SVG, with its colours, background, title and caption. */
export function standaloneSvg(
	svg: SVGSVGElement,
	heading: { readonly title: string; readonly caption: Caption },
): string {
	const copy = svg.cloneNode(true) as SVGSVGElement;
	const [own, copies] = [svg, copy].map((one) => [one, ...one.querySelectorAll<SVGElement>("*")]);
	for (const [at, element] of (own as SVGElement[]).entries()) {
		const target = (copies as SVGElement[])[at] as SVGElement;
		const style = getComputedStyle(element);
		for (const name of drawn) target.setAttribute(name, style.getPropertyValue(name));
		for (const name of ["class", "style", "tabindex"]) target.removeAttribute(name);
		// Clip paths are referred to by id.
		if (element.tagName !== "clipPath") target.removeAttribute("id");
		if (style.display === "none" || element.dataset.screenOnly !== undefined) target.remove();
	}
	const { width, height } = svg.getBoundingClientRect();
	const panel = svg.closest<HTMLElement>(".panel") ?? document.body;
	const { backgroundColor, color: ink, fontFamily: font } = getComputedStyle(panel);
	const whole = document.createElementNS("http://www.w3.org/2000/svg", "svg");
	const ground = document.createElementNS("http://www.w3.org/2000/svg", "rect");
	whole.append(ground);
	const above = drawCaption(
		...([whole, heading.title, heading.caption, { width, ink, font }, resolvedIn(panel)] as const),
	);
	const size = { width: `${width}`, height: `${height + above}` };
	const all = { ...size, viewBox: `0 0 ${width} ${height + above}` };
	for (const [name, value] of Object.entries(all)) whole.setAttribute(name, value);
	for (const [name, value] of Object.entries({ ...size, fill: backgroundColor }))
		ground.setAttribute(name, value);
	copy.setAttribute("y", `${above}`);
	copy.setAttribute("width", `${width}`);
	copy.setAttribute("height", `${height}`);
	whole.append(copy);
	return new XMLSerializer().serializeToString(whole);
}

/** Resolves CSS variables to colours. */
const resolvedIn = (panel: HTMLElement) => (colour: string) => {
	const probe = document.createElement("span");
	probe.style.color = colour;
	panel.append(probe);
	const found = getComputedStyle(probe).color;
	probe.remove();
	return found;
};

/** At twice its size, for high-resolution screens. */
export async function pngOf(svgText: string): Promise<Blob> {
	const url = URL.createObjectURL(new Blob([svgText], { type: "image/svg+xml" }));
	try {
		const image = new Image();
		image.src = url;
		await image.decode();
		const canvas = document.createElement("canvas");
		canvas.width = 2 * image.width;
		canvas.height = 2 * image.height;
		canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
		return await new Promise((resolve, reject) =>
			canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("no picture")))),
		);
	} finally {
		URL.revokeObjectURL(url);
	}
}

export type Rows = readonly (readonly (string | number | null)[])[];

/** CSV with the column names in the first row. */
export const csvOf = (rows: Rows): string =>
	rows.map((row) => row.map(csvField).join(",")).join("\n");

/** A row per object; the columns are the fields of the first. */
export function valueRows(values: readonly object[]): Rows {
	const names = Object.keys(values[0] ?? {});
	return [
		names,
		...values.map((value) => names.map((name) => (value as Record<string, number>)[name] ?? null)),
	];
}

/** Time for the browser to save a file, including its dialog. */
const savingMilliseconds = 60_000;

export type Way = "save" | "copy";

/** Saves a file or copies to the clipboard; if that is not allowed, it is saved after all. */
export async function take(content: Blob, name: string, way: Way): Promise<"copied" | "saved"> {
	if (way === "save") return save(content, name);
	try {
		const text = content.type.startsWith("text/") || content.type.includes("svg");
		if (text) await navigator.clipboard.writeText(await content.text());
		else await navigator.clipboard.write([new ClipboardItem({ [content.type]: content })]);
		return "copied";
	} catch {
		return save(content, name);
	}
}

function save(content: Blob, name: string): "saved" {
	const link = document.createElement("a");
	link.href = URL.createObjectURL(content);
	link.download = name;
	link.click();
	setTimeout(() => URL.revokeObjectURL(link.href), savingMilliseconds);
	return "saved";
}

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
function drawCaption(
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
