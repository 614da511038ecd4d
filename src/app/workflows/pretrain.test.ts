import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { silentProgress } from "../../base/progress.js";
import { type Dataset, openDataset } from "../../data/cohort/index.js";
import { temporaryFolder } from "../../data/records/testing/temporary-folder.js";
import { smallDataset } from "../../evaluate/testing/small-dataset.js";
import { commonLearningRate } from "../../model/index.js";
import { readRun } from "../../model/train/index.js";
import { clinicRun } from "../commands/testing/clinic-run.js";
import { type PretrainOptions, pretrain } from "./pretrain.js";

const dataset = {
	...smallDataset(
		[2],
		[
			{ split: "train", tokens: [5], times: [10] },
			{ split: "valid", tokens: [5], times: [20] },
		],
	),
	manifest: { source: { axis: "dates" } } as unknown as Dataset["manifest"],
};

test("a date by which a split has no record is refused", async () => {
	await expect(pretrain(dataset, "never-written", { before: 9 })).rejects.toThrow(
		"no training patient has a record by 1970-01-10; give a later `before`",
	);
	await expect(pretrain(dataset, "never-written", { before: 19 })).rejects.toThrow(
		"no validation patient has a record by 1970-01-20; give a later `before`",
	);
});

describe("a new run", () => {
	let root: string;
	let data: Dataset;
	beforeAll(async () => {
		const clinic = await clinicRun();
		root = clinic.root;
		data = await openDataset(clinic.dataset);
	});
	afterAll(() => rm(root, { recursive: true }));

	/** Begins a run and stops it at once; its options, and the notes. */
	async function begun(options: PretrainOptions, folder?: string) {
		const run = folder ?? join(await temporaryFolder(), "run");
		const notes: string[] = [];
		await pretrain(data, run, {
			...{ threads: 1, signal: AbortSignal.abort(), ...options },
			progress: { ...silentProgress, note: (text) => void notes.push(text) },
		});
		return { run, options: readRun(run).options, notes };
	}
	const small = { layers: 1, heads: 2, dim: 8, key: 8, value: 8, ff: 8 };

	test("takes the learning rate of the model and the preset, whatever the settings", async () => {
		const rate = async (options: PretrainOptions) => (await begun(options)).options.learningRate;
		expect(await rate({ preset: "tiny" })).toBe(5e-3);
		expect(await rate({ preset: "tiny", settings: small })).toBe(5e-3);
		expect(await rate({ settings: small })).toBe(3e-3);
		expect(await rate({ model: "seft", preset: "tiny" })).toBe(commonLearningRate);
		expect(await rate({ model: "gru-d", preset: "tiny" })).toBe(1e-2);
		expect(await rate({ preset: "tiny", training: { learningRate: 2e-4 } })).toBe(2e-4);
		expect(await rate({ preset: "tiny", training: { learningRate: undefined } })).toBe(5e-3);
	});

	test("that is resumed keeps the learning rate that it was begun with", async () => {
		const training = { learningRate: 1e-3 };
		const { run } = await begun({ preset: "tiny", training });
		expect((await begun({ resume: true }, run)).options.learningRate).toBe(1e-3);
		await expect(begun({ resume: true, training: { learningRate: 5e-3 } }, run)).rejects.toThrow(
			"`resume` keeps the run's own settings: learningRate is 0.001 there, 0.005 here",
		);
	});

	test("of a preset that is too large for the patients is noted", async () => {
		const noted = async (options: PretrainOptions) =>
			(await begun(options)).notes.filter((note) => note.includes("`preset`"));
		expect(await noted({ preset: "large" })).toEqual([
			expect.stringMatching(
				/^note: with \d+ training patients, `preset` tiny is suggested, not large: /,
			),
		]);
		expect(await noted({ preset: "large", settings: small })).toEqual([]);
		expect(await noted({ settings: small })).toEqual([]);
	});
});
