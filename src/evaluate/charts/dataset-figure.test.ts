import { describe, expect, test } from "vitest";
import { type DatasetSummary, prepareDefaults, summarize } from "../../data/cohort/index.js";
import { prepared, smallOptions } from "../../data/cohort/testing/prepared.js";
import { sourceOf } from "../../data/cohort/testing/source-of.js";
import type { RecordSource } from "../../data/records/store.js";
import { datasetFigure } from "./dataset-figure.js";
import { clinicSource } from "./testing/clinic-source.js";
import { drawn } from "./testing/drawn.js";

async function summaryOf(source: RecordSource): Promise<DatasetSummary> {
	const { dataset } = await prepared(source, {
		...prepareDefaults,
		map: smallOptions.map,
		minRecords: 1,
		minCount: 1,
		memory: 2 ** 27,
		threads: 1,
	});
	return summarize(dataset);
}

const drawing = (summary: DatasetSummary, title = "clinic") =>
	drawn(datasetFigure(summary, { title, top: 12 }));

describe("the figure of a dataset", () => {
	test("of a clinic", async () => {
		const svg = drawing(await summaryOf(clinicSource(150)));
		await expect(svg).toMatchFileSnapshot("testing/dataset.svg");
	});

	test("without births there is no age", async () => {
		const svg = drawing(await summaryOf(clinicSource(20, { births: false })));
		expect(svg).toContain("no birth dates");
		expect(svg).not.toContain("Age at events");
	});

	test("of one patient with one code", async () => {
		const svg = drawing(await summaryOf(sourceOf({ train0: "a" })));
		await expect(svg).toMatchFileSnapshot("testing/dataset-of-one.svg");
	});

	test("of long or missing names, and times of day", async () => {
		const ids = Array.from({ length: 30 }, (_, i) => `p${i}`);
		const base = sourceOf(Object.fromEntries(ids.map((id) => [id, "abcabc"])), {
			p3: { birth: -400, times: [0.1, 0.1, 0.1001, 2.5, 80, 90] },
			p4: { birth: -100, times: [0, 0.01, 0.02, 1, 4000.3, 4001] },
		});
		const source: RecordSource = {
			...base,
			async load(store) {
				const loaded = await base.load(store);
				await store.append("code_name", [
					{
						system: "events",
						code: "b",
						name: `<Name> & "quotes" ${"very ".repeat(20)}long`,
						category: "a category with a long name, longer than most of them are",
						kind: "diagnosis",
					},
				]);
				return loaded;
			},
		};
		const svg = drawing(await summaryOf(source), "é & <ü>");
		await expect(svg).toMatchFileSnapshot("testing/dataset-odd.svg");
	});

	test("merges the smallest of many categories", async () => {
		const summary = await summaryOf(clinicSource(20));
		const category = (at: number) => ({
			category: `c${at}`,
			codes: 2,
			events: 100 - at,
			patients: 1,
		});
		const svg = drawing({
			...summary,
			categories: Array.from({ length: 30 }, (_, at) => category(at)),
		});
		expect(svg).toContain(">c16<");
		expect(svg).not.toContain(">c17<");
		expect(svg).toContain(">13 others<");
	});
});
