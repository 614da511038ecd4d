import { describe, expect, test } from "vitest";
import { drawn } from "../testing/drawn.js";
import { categoryMarks, patientMapFigure, tokenMapFigure } from "./map-figures.js";

const token = (code: string, category: string | null, x: number, y: number, count = 10) => ({
	code,
	name: `name of ${code}`,
	category,
	x,
	y,
	count,
});

const tokens = [
	token("250", "endocrine/metabolic", 0, 0, 90),
	token("272", "endocrine/metabolic", 1, 0.5, 40),
	token("401", "circulatory system", 5, 5, 70),
	token("428", "circulatory system", 5.5, 4, 30),
	token("428.1", "circulatory system", 6, 4.5, 20),
	token("x", null, 3, 1),
];

describe("the map of tokens", () => {
	test("with decay vectors", async () => {
		const figure = tokenMapFigure({
			tokens,
			decays: [
				{ layer: 1, head: 1, x: 0.4, y: 0.2 },
				{ layer: 2, head: 4, x: 5.4, y: 4.6 },
			],
		});
		await expect(drawn(figure)).toMatchFileSnapshot("../testing/token-map.svg");
	});

	test("of one token, of tokens at one point, of none", () => {
		drawn(tokenMapFigure({ tokens: tokens.slice(0, 1), decays: [] }), "1 code ·");
		const together = tokens.map((token) => ({ ...token, x: 2, y: 2 }));
		drawn(tokenMapFigure({ tokens: together, decays: [] }), "2 categories");
		drawn(tokenMapFigure({ tokens: [], decays: [] }), "0 codes");
	});

	test("cuts long names", () => {
		const long = token("250", `${"very ".repeat(30)}long`, 0, 0);
		const svg = drawn(
			tokenMapFigure({ tokens: [{ ...long, name: "word ".repeat(50) }], decays: [] }),
		);
		expect(svg).toMatch(/>very very[^<]*…<\/text>/);
		expect(svg).toMatch(/>word word[^<]*…<\/text>/);
	});
});

test("many categories are distinct, and neighbours differ in shape or filling without colour", () => {
	const names = Array.from({ length: 17 }, (_, at) => `category ${at}`);
	const looks = names.map(categoryMarks(names));
	const seen = (parts: (look: (typeof looks)[number]) => unknown) =>
		new Set(looks.map((look) => JSON.stringify(parts(look)))).size;
	expect(seen((look) => look)).toBe(17);
	expect(seen(({ symbol, strokeWidth }) => [symbol, strokeWidth])).toBe(16);
});

const patients = [
	{ x: 0, y: 0, positive: false },
	{ x: 1, y: 0, positive: false },
	{ x: 2, y: 2, positive: true },
	{ x: 1, y: 1, positive: null },
];

describe("the map of patients", () => {
	test("by label", async () => {
		const figure = patientMapFigure({
			patients,
			task: "insulin",
			names: { positive: "insulin within 6 months", negative: "no insulin" },
		});
		await expect(drawn(figure)).toMatchFileSnapshot("../testing/patient-map.svg");
	});

	test("of one patient without a label, and of none", () => {
		const one = patientMapFigure({ patients: patients.slice(3), task: "chf" });
		drawn(one, "1 patient · none labelled");
		drawn(patientMapFigure({ patients: [], task: "chf" }), "0 patients");
	});
});
