import { describe, expect, test } from "vitest";
import type { Dataset } from "../../../data/cohort/index.js";
import { models } from "../../../model/index.js";
import { namesIn } from "../fields.js";
import * as lineup from "./lines.js";

const options = { preset: "tiny", maxLength: 160 };

describe("lines of a comparison", () => {
	test("are all models, and TrajGPT without what is ours beside its default", () => {
		const all = lineup.linesNamed(undefined, options);
		const sized = ["trajgpt-large", "trajgpt-7m"];
		expect(all.map(({ id }) => id)).toEqual(lineup.lineNames.filter((id) => !sized.includes(id)));
		expect(all).toHaveLength(models.length + 1);
		const [first, plain] = lineup.linesNamed(namesIn("trajgpt, trajgpt-plain"), options);
		expect(plain).toEqual({
			...first,
			id: "trajgpt-plain",
			label: "plain TrajGPT",
			settings: { ...first?.settings, gap: "rotary", copies: 0 },
		});
		// The preset of the paper is plain already.
		const paper = lineup.linesNamed(undefined, { ...options, preset: "paper" });
		expect(paper.map(({ id }) => id)).toEqual(
			lineup.lineNames.filter((id) => id !== "trajgpt-plain"),
		);
		const large = paper.find(({ id }) => id === "trajgpt-large");
		expect(large).toMatchObject({ model: "trajgpt", settings: models[0]?.presets.large });
	});

	test("are named once each, whatever the spaces; all the seeds are for those compared", () => {
		const entries = lineup.linesNamed(namesIn(" gpt2,seft, gpt2,"), options);
		expect(entries.map(({ id }) => id)).toEqual(["gpt2", "seft"]);
		expect(() => lineup.linesNamed(namesIn(" ,"), options)).toThrow(
			"the list of models is empty; name some of ",
		);
		expect(namesIn("seft ,seft")).toEqual(["seft"]);
		expect(() => lineup.checkLeaders(["seft"], entries)).not.toThrow();
		expect(() => lineup.checkLeaders(["grud"], entries)).toThrow('there is no model "grud"');
	});

	test("forecast in the usual way of their model, or in every one", () => {
		const entries = lineup.linesNamed(namesIn("trajgpt,informer,gpt2"), options);
		const ways = lineup.waysOf(
			entries,
			({ model }) => lineup.methodsShown(model),
			() => undefined,
		);
		expect(ways.map(({ label, method }) => [label, method])).toEqual([
			["TrajGPT (time-specific)", "time-specific"],
			["TrajGPT (auto-regressive)", "auto-regressive"],
			["Informer", "by-order"],
			["GPT-2", "auto-regressive"],
		]);
	});

	test("are noted with what their numbers rest on", () => {
		const dataset = {
			vocabulary: { size: 30 },
			manifest: {},
		} as unknown as Dataset;
		const entries = lineup.linesNamed(namesIn("trajgpt,informer,patchtst,gru-d,gpt2"), options);
		const budgets = { options: { epochs: 3 }, tuning: { maxLength: 512 } };
		const unpredicted =
			"next, —: the model does not predict each event of a history: Informer, PatchTST";
		expect(lineup.lineNotes(dataset, entries, ["next", "forecast", "chf"], budgets)).toEqual([
			unpredicted,
			"forecast, time-specific (queried at the time of each event): TrajGPT, GRU-D",
			"forecast, by-order (queried by the number of events ahead): Informer, PatchTST",
			"forecast, auto-regressive (steps that feed predictions back): GPT-2",
			"forecast: steps are equal in time, but the query time is not an input of GPT-2: each step is one event further, whatever its length, and an event is predicted by the step nearest to its time, not by the number of events ahead",
			"forecast: the times of all queries of a patient, later ones too, influence each prediction of Informer; in the others only the time of the query, or none",
			"forecast: after up to 3 epochs of pre-training up to 5 more of fine-tuning to forecast: PatchTST; the others have no more than 3 epochs in all",
			"labelled tasks: of a history the last events are seen, at most 512 (without fine-tuning all): TrajGPT, GRU-D; 160: GPT-2; 60: PatchTST; 52: Informer",
			"labelled tasks, all labels: fine-tuned for up to 5 epochs: TrajGPT, Informer, PatchTST, GPT-2; trained from scratch for up to 20 epochs, stopping after 3 without improvement: GRU-D",
			"labelled tasks, few labels or none, —: the model is not pre-trained: GRU-D",
		]);
		expect(lineup.lineNotes(dataset, entries, ["next"], budgets)).toEqual([unpredicted]);
		expect(lineup.lineNotes(dataset, entries.slice(-1), ["next"], budgets)).toEqual([]);
		const bounds = { tuningSteps: 2500, hazards: { slotsPerLandmark: 32 } };
		expect(lineup.lineNotes(dataset, entries, ["next"], { ...budgets, ...bounds })).toEqual([
			"hazards: one landmark per 32 slots of a row",
			unpredicted,
			"fine-tuning takes as many whole epochs as fit into 2500 steps, at least one",
		]);
	});
});

test("a table says if it is of the first test patients", () => {
	const dataset = { patients: () => new Int32Array(255) } as unknown as Dataset;
	const tasks = ["next", "forecast", "insulin"];
	expect(lineup.sampleNotes(dataset, tasks, 200)).toEqual([
		"next, forecast: the first 200 of 255 test patients, by id",
	]);
	expect(lineup.sampleNotes(dataset, tasks, 255)).toEqual([]);
	expect(lineup.sampleNotes(dataset, tasks, null)).toEqual([]);
	expect(lineup.sampleNotes(dataset, ["insulin"], 200)).toEqual([]);
});

const sizeOptions = { model: "trajgpt", maxLength: 160, epochs: 4, presets: ["tiny", "default"] };

describe("lines over sizes", () => {
	test("one per preset and number of patients, with epochs that fit the number", () => {
		const lines = lineup.sizeLines({ ...sizeOptions, trainPatients: [1000, 16000] }, 16000);
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
		expect(lineup.usualNumbers(160_000)).toEqual([2000, 8000, 32_000, 160_000]);
		expect(lineup.usualNumbers(20_000)).toEqual([2000, 8000, 20_000]);
		expect(lineup.usualNumbers(900)).toEqual([900]);
	});

	test("a quarter of the patients is seen twice as often", () => {
		expect([40, 10, 1].map((patients) => lineup.epochsFor(patients, 40, 3))).toEqual([3, 6, 19]);
	});

	test("an unknown preset or none are refused", () => {
		expect(() => lineup.sizeLines({ ...sizeOptions, presets: ["huge"] }, 100)).toThrow(
			'trajgpt has no preset "huge"; known presets: tiny, default, large, paper, paper-7m',
		);
		expect(() => lineup.sizeLines({ ...sizeOptions, presets: [] }, 100)).toThrow(
			"`presets` is empty",
		);
	});

	test("usually in the sizes that the model has", () => {
		const sizes = (model: string) =>
			lineup
				.sizeLines({ ...sizeOptions, model, presets: undefined, trainPatients: [100] }, 100)
				.map(({ preset }) => preset);
		expect(sizes("trajgpt")).toEqual(["tiny", "default", "large"]);
		expect(sizes("gpt2")).toEqual(["tiny", "default"]);
	});
});
