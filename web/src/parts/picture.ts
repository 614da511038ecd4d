import { csvField } from "../../../src/base/table.js";
import { fitted, textWidth, wrapped } from "../../../src/evaluate/charts/text.js";

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
	const copies = [copy, ...copy.querySelectorAll<SVGElement>("*")];
	for (const element of [svg, ...svg.querySelectorAll<SVGElement>("*")]) {
		const target = copies.shift() as SVGElement;
		const style = getComputedStyle(element);
		for (const name of drawn) target.setAttribute(name, style.getPropertyValue(name));
		for (const name of ["class", "style", "tabindex"]) target.removeAttribute(name);
		// Clip paths are referred to by id.
		if (element.tagName !== "clipPath") target.removeAttribute("id");
		if (style.display === "none" || element.dataset.screenOnly !== undefined) target.remove();
	}
	const { width, height } = svg.getBoundingClientRect();
	const panel = svg.closest<HTMLElement>(".panel") ?? document.body;
	const { backgroundColor, color: ink, fontFamily } = getComputedStyle(panel);
	const { items, height: above } = placeCaption(heading.caption, width);
	const size = { width, height: height + above };
	const picture = svgElement("svg", { ...size, viewBox: `0 0 ${width} ${height + above}` });
	const words = { "font-family": fontFamily, fill: ink, "font-size": 12 };
	const title = { ...words, x: margin, y: 20, "font-size": 15, "font-weight": "bold" };
	picture.append(
		svgElement("rect", { ...size, fill: backgroundColor }),
		svgElement("text", title, heading.title),
		...items.map(({ text, x, y, colour }) =>
			svgElement(
				"text",
				{ ...words, x, y, ...(colour && { fill: resolved(colour, panel) }) },
				text,
			),
		),
		copy,
	);
	for (const [name, value] of Object.entries({ y: above, width, height }))
		copy.setAttribute(name, `${value}`);
	return new XMLSerializer().serializeToString(picture);
}

/** The colour that a CSS variable stands for. */
function resolved(colour: string, panel: HTMLElement): string {
	const probe = document.createElement("span");
	probe.style.color = colour;
	panel.append(probe);
	const { color } = getComputedStyle(probe);
	probe.remove();
	return color;
}

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

/** CSV with a row per object; the columns are the fields of the first. */
export function csvOf(rows: readonly object[]): string {
	const names = Object.keys(rows[0] ?? {});
	const lines = rows.map((row) => {
		const cells = new Map(Object.entries(row));
		return names.map((name) => cells.get(name) ?? null);
	});
	return [names, ...lines].map((cells) => cells.map(csvField).join(",")).join("\n");
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
	readonly colour?: string;
}[];

const [margin, titleHeight, lineHeight, gap] = [12, 30, 18, 18];
const size = 12;

/** Where Arial is missing, its substitutes are wider by up to so much. */
export const widerFont = 1.17;

/** Places the items in lines below a title, and returns the total height. */
export function placeCaption(caption: Caption, width: number) {
	const room = (width - 2 * margin) / widerFont;
	let [x, y] = [margin, titleHeight + size];
	const items = caption.flatMap(({ text, paragraph, colour }) =>
		(paragraph ? wrapped(text, room, { size }) : [fitted(text, room, { size })]).map((line) => {
			const length = widerFont * textWidth(line, { size });
			if (x > margin && (paragraph || x + length > width - margin))
				[x, y] = [margin, y + lineHeight];
			const item = { text: line, x, y, colour };
			x += paragraph ? width : length + gap;
			return item;
		}),
	);
	return { items, height: (items.length > 0 ? y : titleHeight) + gap / 2 };
}

function svgElement(
	name: string,
	attributes: Readonly<Record<string, string | number>>,
	text?: string,
) {
	const element = document.createElementNS("http://www.w3.org/2000/svg", name);
	for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, `${value}`);
	if (text !== undefined) element.textContent = text;
	return element;
}
