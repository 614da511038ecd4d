import { Resvg } from "@resvg/resvg-js";
import { parseHTML } from "linkedom";
import { expect } from "vitest";
import type { Figure } from "../figure.js";
import { type FigureDocument, svgOf } from "../svg.js";
import { escaped } from "../xml.js";

/** A new document, as a page would have. */
export const testDocument = (): FigureDocument =>
	parseHTML("<!doctype html><html></html>").document as unknown as FigureDocument;

/**
 * A figure's drawing, which a strict reader can read, which holds no slip of a number, and which says what it is and
 * some words.
 */
export function drawn(figure: Figure, ...words: readonly string[]): string {
	const svg = svgOf(figure, testDocument());
	expect(() => new Resvg(svg)).not.toThrow();
	expect(svg).not.toMatch(/undefined|NaN|Infinity|⚠/);
	expect(figure.description).not.toBe("");
	const simulated = figure.simulated ? " Simulated population, not real people." : "";
	expect(svg).toContain(`>${escaped(figure.description)}${simulated}</desc>`);
	for (const one of words) expect(svg).toContain(one);
	return svg;
}
