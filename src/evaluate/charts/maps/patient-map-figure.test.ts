import { describe, expect, test } from "vitest";
import { drawn } from "../testing/drawn.js";
import { patientMapFigure } from "./patient-map-figure.js";

const patients = [
	{ x: 0, y: 0, positive: false },
	{ x: 1, y: 0, positive: false },
	{ x: 2, y: 2, positive: true },
	{ x: 1, y: 1, positive: null },
];

describe("the map of patients", () => {
	test("by label, over tokens", async () => {
		const figure = patientMapFigure({
			patients,
			tokens: [
				{ x: -1, y: 1 },
				{ x: 3, y: 1 },
			],
			task: "insulin",
			names: { positive: "insulin within 6 months", negative: "no insulin" },
		});
		await expect(drawn(figure)).toMatchFileSnapshot("../testing/patient-map.svg");
		expect(figure.description).toBe(
			"A map (UMAP) of the representations of 4 patients for the task insulin. 1 of 3 labelled patients is positive (33 %), drawn as triangles. 1 have no label.",
		);
	});

	test("of one patient without a label, and of none", () => {
		const one = patientMapFigure({ patients: patients.slice(3), task: "chf" });
		expect(drawn(one)).toContain("1 patient · none labelled");
		expect(drawn(patientMapFigure({ patients: [], task: "chf" }))).toContain("0 patients");
	});
});
