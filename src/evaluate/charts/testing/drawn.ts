import { Resvg } from "@resvg/resvg-js";
import { expect } from "vitest";
import type { Figure } from "../figure.js";
import { svgOf } from "../svg.js";
import { escaped } from "../xml.js";
import { testDocument } from "./document.js";

/** A figure's drawing, which a strict reader can read, which holds no slip of a number, and which says what it is. */
export function drawn(figure: Figure): string {
	const svg = svgOf(figure, testDocument());
	expect(() => new Resvg(svg)).not.toThrow();
	expect(svg).not.toMatch(/undefined|NaN|Infinity|⚠/);
	expect(figure.description).not.toBe("");
	const simulated = figure.simulated ? " Simulated population, not real people." : "";
	expect(svg).toContain(`>${escaped(figure.description)}${simulated}</desc>`);
	return svg;
}
