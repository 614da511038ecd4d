import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { thousands } from "../../base/thousands.js";
import { wilson } from "./dataset-figure.js";
import { compactUpTo, counted, percent } from "./numbers.js";
import { fitted, textWidth, wrapped } from "./text.js";
import { categoryColours, theme } from "./theme.js";

const type = { size: 10 };

describe("text", () => {
	test("is measured like Arial", () => {
		expect(textWidth("Hamburg", type)).toBeCloseTo(41.12, 9); // 722 + 556 + 833 + 556 + 556 + 333 + 556
		expect(textWidth("é", type)).toBe(textWidth("e", type));
		expect(textWidth("糖", type)).toBe(10);
		expect(textWidth("a", { size: 10, bold: true })).toBeGreaterThan(textWidth("a", type));
	});

	test("fits, with an ellipsis where it was cut", () => {
		expect(fitted("Diabetes mellitus", 200, type)).toBe("Diabetes mellitus");
		expect(fitted("Asthma, acute", 45, type)).toBe("Asthma…");
		fc.assert(
			fc.property(
				fc.string({ unit: "grapheme" }),
				fc.integer({ min: 12, max: 200 }),
				(text, width) => {
					expect(textWidth(fitted(text, width, type), type)).toBeLessThanOrEqual(width);
				},
			),
		);
	});

	test("wraps at spaces", () => {
		expect(wrapped("one two three", 40, type)).toEqual(["one two", "three"]);
		expect(wrapped(`a ${"b".repeat(40)}`, 40, type)).toEqual(["a", "bbbbb…"]);
	});
});

describe("numbers", () => {
	test("read well", () => {
		expect(thousands(1234567)).toBe("1,234,567");
		expect([0, 2500, 5000].map(compactUpTo(5000))).toEqual(["0", "2,500", "5,000"]);
		expect([0, 2500, 15_000].map(compactUpTo(15_000))).toEqual(["0", "2.5K", "15K"]);
		expect([0, 0.00001, 0.0003, 0.042, 0.0996, 0.61, 1].map(percent)).toEqual([
			"0 %",
			"< 0.01 %",
			"0.03 %",
			"4.2 %",
			"10 %",
			"61 %",
			"100 %",
		]);
		expect([counted(1, "patient"), counted(2, "history", "histories")]).toEqual([
			"1 patient",
			"2 histories",
		]);
	});

	test("an interval ends where the share is 1.96 standard errors off", () => {
		fc.assert(
			fc.property(
				fc.integer({ min: 1, max: 5000 }),
				fc.double({ min: 0, max: 1, noNaN: true }),
				(n, part) => {
					const positive = Math.round(part * n);
					for (const end of wilson(positive, n))
						if (end > 1e-9 && end < 1 - 1e-9)
							expect(Math.abs(positive / n - end) / Math.sqrt((end * (1 - end)) / n)).toBeCloseTo(
								1.96,
								3,
							);
				},
			),
		);
		expect(wilson(0, 10)[0]).toBe(0);
		expect(wilson(10, 10)[1]).toBeCloseTo(1, 12);
		expect(wilson(0, 0)).toEqual([0, 1]);
	});
});

test("categories get colours until the palette is used up", () => {
	const names = Array.from({ length: 12 }, (_, i) => `category ${i}`);
	const colourOf = categoryColours([null, ...names]);
	expect(new Set(names.slice(0, 9).map(colourOf)).size).toBe(9);
	expect([null, ...names.slice(9), "unheard of"].map(colourOf)).toEqual(
		Array.from({ length: 5 }, () => theme.neutral),
	);
});
