import { describe, expect, test } from "vitest";
import { epochsFor, sizeLines, usualNumbers } from "./size-lines.js";

const options = { model: "trajgpt", maxLength: 160, epochs: 4, presets: ["tiny", "default"] };

describe("lines over sizes", () => {
	test("one per preset and number of patients, with epochs that fit the number", () => {
		const lines = sizeLines({ ...options, trainPatients: [1000, 16000] }, 16000);
		expect(lines.map(({ entry }) => entry.id)).toEqual([
			...["tiny-1000", "tiny-16000", "default-1000", "default-16000"],
		]);
		expect(lines[0]?.entry).toMatchObject({
			label: "tiny, 1,000 patients",
			group: "tiny",
			options: { trainPatients: 1000, epochs: 16, patience: 5, learningRate: 5e-3 },
		});
		expect(lines[1]?.entry.options.epochs).toBe(4);
	});

	test("usually from 2,000 to all, about four times as many each", () => {
		expect(usualNumbers(160_000)).toEqual([2000, 8000, 32_000, 160_000]);
		expect(usualNumbers(20_000)).toEqual([2000, 8000, 20_000]);
		expect(usualNumbers(900)).toEqual([900]);
	});

	test("a quarter of the patients is seen twice as often", () => {
		expect([40, 10, 1].map((patients) => epochsFor(patients, 40, 3))).toEqual([3, 6, 19]);
	});

	test("more patients than there are, or an unknown preset, are refused", () => {
		expect(() => sizeLines({ ...options, trainPatients: [10, 200] }, 100)).toThrow(
			"`trainPatients` 200: the dataset has 100 training patients; give at most as many",
		);
		expect(() => sizeLines({ ...options, presets: ["huge"] }, 100)).toThrow(
			'trajgpt has no preset "huge"; known presets: tiny, default, large, paper, paper-7m',
		);
		expect(() => sizeLines({ ...options, presets: [] }, 100)).toThrow("`presets` is empty");
	});

	test("usually in the sizes that the model has", () => {
		const sizes = (model: string) =>
			sizeLines({ ...options, model, presets: undefined, trainPatients: [100] }, 100).map(
				({ preset }) => preset,
			);
		expect(sizes("trajgpt")).toEqual(["tiny", "default", "large"]);
		expect(sizes("gpt2")).toEqual(["tiny", "default"]);
	});
});
