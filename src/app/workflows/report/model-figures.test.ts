import { expect, test } from "vitest";
import { patientCaption } from "./model-figures.js";

test("the caption of the patient map says whether all patients are shown", () => {
	expect(patientCaption(2000, 19_966, false)).toBe(
		"Each mark is one of 2,000 test patients, drawn at random from 19,966, represented by the history up to the last record.",
	);
	expect(patientCaption(600, 600, false)).toBe(
		"Each mark is a test patient, represented by the history up to the last record.",
	);
	expect(patientCaption(600, 600, true)).toContain(
		"Each mark is a test patient, represented by the history up to the time of the label. ",
	);
});
