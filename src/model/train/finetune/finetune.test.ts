import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Progress } from "../../../base/progress.js";
import { random } from "../../../base/random.js";
import type { Dataset, History, Label, Split } from "../../../data/cohort/index.js";
import { temporaryFolder } from "../../../data/records/testing/temporary-folder.js";
import { nodeRuntime } from "../../../engine/runtime/node.js";
import { evaluate } from "../../../engine/runtime/testing/evaluate.js";
import { pooledFeeds } from "../../heads.js";
import { modelById } from "../../index.js";
import { parametersOf } from "../../nn/weights.js";
import { readCheckpoint } from "../checkpoint.js";
import { trainOptions } from "../options.js";
import { trainEpochs } from "../pretrain.js";
import { runFiles } from "../run-folder.js";
import { classifier, labelBatches, labelsOf, logOdds, withLabelQuery } from "./classifier.js";

const runtime = nodeRuntime({ threads: 1 });
const model = modelById("trajgpt");
const config = model.config.parse({
	...{ layers: 2, heads: 2, dim: 12, key: 8, value: 12, ff: 16 },
	vocab: 8,
});
const pretrained = { model, config, weights: model.init(config, random(3)) };
const head = { weight: new Float32Array(12).fill(0.25), bias: -0.5 };

/** Yes if the patient ever had token 7. */
const people = 48;
const draw = random(9);
const histories: History[] = Array.from({ length: people }, (_, at) => {
	const length = 3 + draw.integer(6);
	return {
		id: `p${at}`,
		sex: null,
		birthEvents: 1,
		observed: [],
		death: null,
		tokens: Int32Array.from({ length }, (_, i) => (i === 0 ? 2 : 5 + draw.integer(3))),
		times: Float64Array.from({ length }, (_, i) => (i === 0 ? -100 : i)),
	};
});
const labels: Label[] = histories.map(({ tokens }, patient) => ({
	patient,
	time: 12,
	events: tokens.length - 2, // the last event comes after the question
	value: tokens.subarray(1, -1).includes(7),
}));
const splitOf = (patient: number): Split => (patient % 4 === 0 ? "valid" : "train");
const dataset = {
	folder: "memory",
	patients: (split: Split) =>
		Int32Array.from(histories.keys()).filter((patient) => splitOf(patient) === split),
	birthEventsOf: () => 1,
	lengthOf: (patient: number) => histories[patient].tokens.length,
	read: async (patient: number) => histories[patient],
} as unknown as Dataset;

test("a label is one more event: its value at its time, after the known events", () => {
	const history = {
		...histories[0],
		tokens: Int32Array.of(2, 5, 7, 6),
		times: Float64Array.of(-9, 1, 2, 3),
	};
	const { tokens, times } = withLabelQuery(history, {
		patient: 0,
		time: 2.5,
		events: 2,
		value: true,
	});
	expect([...tokens]).toEqual([2, 5, 7, 1]);
	expect([...times]).toEqual([-9, 1, 2, 2.5]);
});

describe("a classifier", () => {
	const oddsOf = async (answer: boolean) => {
		const own = labels.slice(0, 5).map((label) => ({ ...label, value: answer }));
		const batches = labelBatches(dataset, own, {
			...{ maxLength: 16, cut: "last" as const, size: { rows: 5 }, seed: 0, maxShapes: 1 },
		});
		const batch = await batches.read(0, 0);
		const weights = classifier(pretrained, head).init(config, random(0));
		const values = Object.fromEntries([...weights].map(([name, { data }]) => [name, data]));
		const { z } = await evaluate(
			{ z: logOdds(pretrained, parametersOf(weights), batch) },
			{ ...values, ...(pooledFeeds(model, config, batch) as Record<string, Float32Array>) },
		);
		return z;
	};

	test("never sees the label", async () => {
		const [yes, no] = [await oddsOf(true), await oddsOf(false)];
		expect(yes).toEqual(no);
		expect(new Set(yes).size).toBe(5);
	});

	test("learns all weights but those of the output over codes", () => {
		const names = [...classifier(pretrained, head).init(config, random(0)).keys()];
		const body = [...pretrained.weights.keys()].filter((name) => names.includes(name));
		expect(names).toEqual([...body, "label.weight", "label.bias"]);
		expect(names).toContain("embedding");
		expect(names).toContain("layers.1.down");
		expect(names).not.toContain("head");
	});
});

interface Trial {
	readonly folder: string;
	go(resume: boolean, stopAt?: number): ReturnType<typeof trainEpochs>;
}

async function trial(): Promise<Trial> {
	const folder = join(await temporaryFolder(), "task");
	mkdirSync(folder);
	return {
		folder,
		go(resume, stopAt = Number.POSITIVE_INFINITY) {
			const stop = new AbortController();
			const progress: Progress = {
				update: ({ done }) => {
					if (done >= stopAt) stop.abort();
				},
				note: () => {},
				finish: () => {},
			};
			let now = 0;
			return trainEpochs({
				folder,
				run: {
					model: model.id,
					config: config as Record<string, unknown>,
					options: trainOptions.parse({
						...{ epochs: 12, batchSlots: 64, learningRate: 3e-2, objective: "next", cut: "last" },
						...{ clip: 20, patience: 12 },
					}),
					dataset: { contentHash: "abc", labels: labels.length },
				},
				model: classifier(pretrained, head),
				dataset,
				batchesOf: (split, plan) => labelBatches(dataset, labelsOf(dataset, labels, split), plan),
				...{ runtime, resume, progress, signal: stop.signal },
				clock: () => (now += 250),
			});
		},
	};
}

describe("fine-tuning", () => {
	test("learns labels end to end, and resumes to the same bits after being stopped", async () => {
		const whole = await trial();
		const summary = await whole.go(false);
		const answers = labelsOf(dataset, labels, "valid").map(({ value }) => Number(value));
		const share = answers.reduce((a, b) => a + b, 0) / answers.length;
		const prevalence = -share * Math.log(share) - (1 - share) * Math.log(1 - share);
		expect(summary.interrupted).toBe(false);
		expect(summary.best?.losses.label).toBeLessThan(prevalence);
		const before = pretrained.weights.get("layers.0.key")!.data;
		expect(
			readCheckpoint(runFiles(whole.folder).best).tensors.get("layers.0.key")!.data,
		).not.toEqual(before);

		const halted = await trial();
		expect(await halted.go(false, 7)).toMatchObject({ steps: 7, interrupted: true });
		expect(await halted.go(true)).toMatchObject({ interrupted: false });
		for (const place of ["checkpoint", "best"] as const)
			for (const file of ["state.safetensors", "meta.json"])
				expect(
					readFileSync(join(runFiles(halted.folder)[place], file)).equals(
						readFileSync(join(runFiles(whole.folder)[place], file)),
					),
					`${place}/${file}`,
				).toBe(true);
	});
});
