import { csvField } from "../../../src/base/csv.js";
import { type Caption, drawCaption } from "./caption.js";

/** Styles that a drawing takes from the page's sheets; a copy must bring them along. */
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

/** A drawing of the page as a file of its own, with its colours, on its background and below what its marks mean. */
export function standaloneSvg(
	svg: SVGSVGElement,
	told?: { readonly title: string; readonly caption: Caption },
): string {
	const copy = svg.cloneNode(true) as SVGSVGElement;
	const [own, copies] = [svg, copy].map((one) => [one, ...one.querySelectorAll<SVGElement>("*")]);
	for (const [at, element] of (own as SVGElement[]).entries()) {
		const target = (copies as SVGElement[])[at] as SVGElement;
		const style = getComputedStyle(element);
		for (const name of drawn) target.setAttribute(name, style.getPropertyValue(name));
		for (const name of ["class", "style", "tabindex"]) target.removeAttribute(name);
		// Others refer to what clips them by its name.
		if (element.tagName !== "clipPath") target.removeAttribute("id");
		if (style.display === "none" || element.dataset.screenOnly !== undefined) target.remove();
	}
	const { width, height } = svg.getBoundingClientRect();
	const panel = svg.closest<HTMLElement>(".panel") ?? document.body;
	const { backgroundColor, color: ink, fontFamily: font } = getComputedStyle(panel);
	const whole = document.createElementNS("http://www.w3.org/2000/svg", "svg");
	const ground = document.createElementNS("http://www.w3.org/2000/svg", "rect");
	whole.append(ground);
	const above = told
		? drawCaption(whole, told.title, told.caption, { width, ink, font }, resolvedIn(panel))
		: 0;
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

/** Colours of the page's sheets in numbers. */
const resolvedIn = (panel: HTMLElement) => (colour: string) => {
	const probe = document.createElement("span");
	probe.style.color = colour;
	panel.append(probe);
	const found = getComputedStyle(probe).color;
	probe.remove();
	return found;
};

/** At twice its size, for screens that are fine. */
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

/** A table for a spreadsheet; the first row has the names. */
export const csvOf = (rows: Rows): string =>
	rows.map((row) => row.map(csvField).join(",")).join("\n");

/** How long a browser may take to fetch what it saves, asking where to included. */
const savingMilliseconds = 60_000;

/** Into the clipboard; where that is not allowed, into a file. */
export async function copyOrSave(content: Blob, name: string): Promise<"copied" | "saved"> {
	try {
		const text = content.type.startsWith("text/") || content.type.includes("svg");
		if (text) await navigator.clipboard.writeText(await content.text());
		else await navigator.clipboard.write([new ClipboardItem({ [content.type]: content })]);
		return "copied";
	} catch {
		const link = document.createElement("a");
		link.href = URL.createObjectURL(content);
		link.download = name;
		link.click();
		setTimeout(() => URL.revokeObjectURL(link.href), savingMilliseconds);
		return "saved";
	}
}
