import { type PlotOptions, plot } from "@observablehq/plot";
import { simulatedText } from "../../base/simulated.js";
import type { Figure } from "./figure.js";
import type { Type } from "./text.js";
import { wrapped } from "./text.js";
import { theme } from "./theme.js";
import type { SvgNode } from "./xml.js";
import { escaped, openTag, xmlOf } from "./xml.js";

/** A browser's or linkedom's document, in which Plot creates its elements. */
export interface FigureDocument {
	createElementNS(namespace: string, name: string): unknown;
}

const { size, gap } = theme;
const lineHeight = 1.35;

/**
 * A standalone SVG file: panels in rows, under their titles, on white. Deterministic. `ids` begins every id: drawings
 * on one page need different ones.
 */
export function svgOf(figure: Figure, document: FigureDocument, { ids = "" } = {}): string {
	const width = figure.width ?? theme.width;
	const margin = width > theme.narrowWidth ? theme.margin : theme.narrowMargin;
	const inner = width - 2 * margin;
	const parts: string[] = [];
	let y: number = margin;

	/** Writes lines at the current height and moves below them. */
	const write = (lines: readonly string[], x: number, type: Type, fill: string) => {
		for (const line of lines) {
			parts.push(textLine(line, x, y + type.size, type, fill));
			y += type.size * lineHeight;
		}
	};

	const title = { size: size.title, bold: true };
	write(wrapped(figure.title, inner, title), margin, title, theme.ink);
	if (figure.subtitle) {
		y += 3;
		const type = { size: size.text };
		write(wrapped(figure.subtitle, inner, type), margin, type, theme.quiet);
	}
	const nameOf = idNames(ids);
	for (const row of figure.rows.filter((row) => row.length > 0)) {
		y += gap.down;
		const top = y;
		const shares = row.reduce((sum, { share = 1 }) => sum + share, 0);
		const room = inner - gap.across * (row.length - 1);
		const panels = row.map(({ title, subtitle = "", share = 1, plot }) => {
			const panelWidth = Math.round((room * share) / shares);
			return {
				panelWidth,
				title: wrapped(title, panelWidth, panelType),
				subtitle: subtitle === "" ? [] : wrapped(subtitle, panelWidth, { size: size.text }),
				options: plot(panelWidth),
			};
		});
		const headings = panels.map(
			({ title, subtitle }) =>
				(title.length * size.panel + subtitle.length * size.text) * lineHeight + 6,
		);
		const plotTop = top + Math.max(...headings);
		let x: number = margin;
		for (const { panelWidth, title, subtitle, options } of panels) {
			y = top;
			write(title, x, panelType, theme.ink);
			write(subtitle, x, { size: size.text }, theme.quiet);
			parts.push(drawn(options, document, x, plotTop, panelWidth, nameOf));
			x += panelWidth + gap.across;
		}
		y = plotTop + Math.max(...panels.map(({ options }) => options.height));
	}
	const notes = [...(figure.notes ?? []), ...(figure.simulated ? [simulatedSentence] : [])];
	if (notes.length > 0) {
		y += gap.down / 2;
		const type = { size: size.tick };
		for (const note of notes) write(wrapped(note, inner, type), margin, type, theme.quiet);
	}

	const height = Math.ceil(y + margin);
	const open = openTag("svg", {
		xmlns: "http://www.w3.org/2000/svg",
		width,
		height,
		viewBox: `0 0 ${width} ${height}`,
		role: "img",
		"aria-labelledby": `${ids}title`,
		"aria-describedby": `${ids}description`,
		"font-family": theme.font,
		color: theme.ink,
	});
	const background = `<rect width="${width}" height="${height}" fill="${theme.background}"/>`;
	const described = [figure.description, ...(figure.simulated ? [simulatedSentence] : [])].join(
		" ",
	);
	const name = `<title id="${escaped(ids)}title">${escaped(figure.title)}</title>`;
	const description = `<desc id="${escaped(ids)}description">${escaped(described)}</desc>`;
	return `${[open, name, description, background, ...parts, "</svg>"].join("\n")}\n`;
}

const simulatedSentence = `${simulatedText.replace(/^s/, "S")}.`;

const panelType = { size: size.panel, bold: true };

function textLine(text: string, x: number, y: number, type: Type, fill: string): string {
	const open = openTag("text", {
		x,
		y: Number(y.toFixed(2)),
		"font-size": type.size,
		...(type.bold && { "font-weight": "bold" }),
		fill,
	});
	return `${open}${escaped(text)}</text>`;
}

function drawn(
	options: PlotOptions,
	document: FigureDocument,
	x: number,
	y: number,
	width: number,
	nameOf: (id: string) => string,
): string {
	const made: SvgNode = plot({ ...options, document: document as never, width });
	if (made.localName !== "svg")
		throw new Error(`Plot made a ${made.localName}, not an svg; draw legends as marks`);
	const open = openTag("g", {
		transform: `translate(${x},${Number(y.toFixed(2))})`,
		fill: theme.ink,
		"font-size": size.tick,
		"text-anchor": "middle",
	});
	const inside = [...made.childNodes].map((child) => xmlOf(child, nameOf)).filter(Boolean);
	return [open, ...inside, "</g>"].join("\n");
}

/** New names for Plot's ids, in the order they appear. */
function idNames(ids: string): (id: string) => string {
	const names = new Map<string, string>();
	return (id) => {
		const name = names.get(id) ?? `${ids}id-${names.size + 1}`;
		names.set(id, name);
		return name;
	};
}
