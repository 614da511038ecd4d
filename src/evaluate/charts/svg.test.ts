import { dot, line } from "@observablehq/plot";
import { Resvg } from "@resvg/resvg-js";
import { describe, expect, test } from "vitest";
import type { Figure } from "./figure.js";
import { svgOf } from "./svg.js";
import { testDocument } from "./testing/drawn.js";

const points = [
	{ x: 1, y: 1 / 3, name: 'a < b & "c" \u0000\ud800' },
	{ x: 2, y: 2, name: "\u00a0nbsp" },
];

const panel = {
	title: "Points & <lines>",
	plot: () => ({
		height: 120,
		marks: [
			line(points, { x: "x", y: "y", clip: true }),
			dot(points, { x: "x", y: "y", title: "name" }),
		],
	}),
};

const figure: Figure = {
	title: `A figure "of" ${"long words ".repeat(20)}`,
	subtitle: "two panels",
	description: "Two points & a line < 3",
	rows: [[panel, { ...panel, share: 2, subtitle: "wide" }], [], [panel]],
	notes: ["a note"],
};

describe("svgOf", () => {
	test("makes a standalone file", () => {
		const svg = svgOf(figure, testDocument());
		expect(svg).toMatch(
			/^<svg xmlns="http:\/\/www.w3.org\/2000\/svg" width="960" height="(\d+)" viewBox="0 0 960 \1" /,
		);
		const { width, height } = new Resvg(svg); // a strict reader of XML
		expect(width).toBe(960);
		expect(svg).toContain(`<rect width="960" height="${height}" fill="#ffffff"/>`);
		expect(svg).not.toMatch(/<style|class=|undefined|NaN|⚠/);
	});

	test("escapes data", () => {
		const svg = svgOf(figure, testDocument());
		expect(svg).toContain(">Points &amp; &lt;lines&gt;</text>");
		expect(svg).toContain("<title>a &lt; b &amp; &quot;c&quot; \ufffd\ufffd</title>");
		expect(svg).toContain("<title>\u00a0nbsp</title>");
	});

	test("draws the same file twice in one process, though Plot counts its ids", () => {
		const svg = svgOf(figure, testDocument());
		expect(svgOf(figure, testDocument())).toBe(svg);
		expect(svg.match(/ id="id[^"]*"/g)).toEqual([' id="id-1"', ' id="id-2"', ' id="id-3"']);
		expect(svg.match(/url\([^)]*\)/g)).toEqual(["url(#id-1)", "url(#id-2)", "url(#id-3)"]);
	});

	test("has distinct ids where drawings share a page", () => {
		const svg = svgOf(figure, testDocument(), { ids: "first-" });
		const ids = [...svg.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
		expect(ids).toEqual(
			["title", "description", "id-1", "id-2", "id-3"].map((id) => `first-${id}`),
		);
		expect(svg).toContain('aria-describedby="first-description"');
		expect(svg.match(/url\([^)]*\)/g)).toEqual([1, 2, 3].map((at) => `url(#first-id-${at})`));
	});

	test("rejects Plot's legends, which are HTML", () => {
		const legend = {
			...panel,
			plot: () => ({
				height: 9,
				color: { legend: true },
				marks: [dot([1], { x: [1], fill: ["a"] })],
			}),
		};
		expect(() => svgOf({ title: "", description: "", rows: [[legend]] }, testDocument())).toThrow(
			"draw legends as marks",
		);
	});
});
