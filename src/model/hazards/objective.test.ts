import { describe, expect, test } from "vitest";
import { random } from "../../base/random.js";
import { fillBatch, planBatches } from "../../data/cohort/batches.js";
import { evaluate, relativeError } from "../../engine/runtime/testing/evaluate.js";
import { gradients, input } from "../../engine/tensor/index.js";
import { modelById } from "../index.js";
import { parametersOf } from "../nn/weights.js";
import { lossFeeds, lossTerms } from "../objective.js";
import { smallSettings } from "../testing/small-settings.js";
import { hazardNats } from "./head.js";
import { binsOf, hazardSettings } from "./settings.js";
import { historyWith } from "./testing/histories.js";

const vocab = 12;

describe("−log likelihood of times at risk", () => {
	const settings = hazardSettings.parse({ binDays: [10, 100] });
	const logHazards = [-3, -4, -2, -5, -6, -1]; // [bins, outputs]
	const nats = async (risk: readonly number[]) => {
		const tensor = hazardNats(input("logs", [1, 2, 3]), input("risk", [1, 1, 3]), binsOf(settings));
		return (await evaluate({ nats: tensor }, { logs: logHazards, risk })).nats;
	};

	test("hazard × days in each bin, less the log hazard of the bin of the record", async () => {
		// Output 0 is recorded after 10 days, output 1 is not within 50, output 2 is not at risk.
		const h = logHazards.map(Math.exp) as [number, number, number, number, number, number];
		const expected = [h[0] * 10 + 3, h[1] * 10, 0, 0, h[4] * 40, 0];
		expect(relativeError(await nats([-10, 50, 0]), expected)).toBeLessThan(1e-6);
	});

	test("a record after the last bin counts as none", async () => {
		const h = logHazards.map(Math.exp) as [number, number, number, number, number, number];
		const [, , , last] = await nats([-101, 0, 0]);
		expect(last).toBeCloseTo(h[3] * 90, 5);
	});
});

const histories = Array.from({ length: 6 }, (_, person) => {
	const draw = random(person);
	return historyWith(
		Array.from(
			{ length: 6 + draw.integer(8) },
			(_, n) => [1100 + 150 * Math.ceil(0.7 * n), 5 + draw.integer(vocab - 5)] as const,
		),
		{ id: `p${person}`, ...(person % 3 === 0 && { death: 5500 }) },
	);
});

const batch = (() => {
	const plan = planBatches(
		histories.map(({ tokens }) => tokens.length),
		histories.map(() => 1),
		{ maxLength: 16, cut: "windows", size: { rows: 6 }, seed: 0, maxShapes: 1 },
	);
	const [planned] = plan.epoch(0);
	// One row stays empty, as in the last batch of an epoch.
	return fillBatch(plan, { ...planned!, rows: 7 }, async (at) => histories[at] as never);
})();

// Two models that are queried at later times, one that is not, one that reads windows.
describe.each(["trajgpt", "seft", "gpt2", "patchtst"])("%s learns hazards", (id) => {
	const model = modelById(id);
	const hazards = hazardSettings.parse({
		slotsPerLandmark: 4,
		groups: [{ name: "some", tokens: [5, 6] }],
	});
	const config = model.config.parse({ ...smallSettings[id], vocab, hazards }) as object;
	const objectives = model.objectives.next;
	const weights = model.init(config, random(1));

	test("its terms are finite, and every weight of theirs has a gradient", async () => {
		const own = await batch;
		const draw = { random: random(3), horizon: 0 };
		const { feeds, targets } = lossFeeds(model, config, objectives, own, draw, true);
		const parameters = parametersOf(weights);
		const { terms } = lossTerms(model, config, objectives, parameters, own, true);
		const hazardTerms = terms.filter(({ name }) => ["onset", "recurrence", "visit"].includes(name));
		expect(hazardTerms).toHaveLength(3);
		expect(targets.onset).toBeGreaterThan(6);
		const names = [...weights.keys()].filter((name) => name.startsWith("hazards."));
		const outputs = Object.fromEntries([
			...hazardTerms.map(({ name, total }) => [name, total] as const),
			...hazardTerms.flatMap((term) =>
				gradients(
					term.total,
					names.map((name) => parameters[name] as never),
				).map((gradient, i) => [`${term.name}/${names[i]}`, gradient] as const),
			),
		]);
		const values = Object.fromEntries([...weights].map(([name, { data }]) => [name, data]));
		const found = await evaluate(outputs, { ...values, ...(feeds as Record<string, never>) });
		for (const { name } of hazardTerms) expect(Number.isFinite(found[name]?.[0])).toBe(true);
		for (const name of names) {
			const moved = hazardTerms.some((term) =>
				found[`${term.name}/${name}`]?.some((value) => value !== 0),
			);
			// The weights of states start at zero, so what lies before them moves later.
			if (!name.endsWith("binStates")) expect([name, moved]).toEqual([name, true]);
		}
	});
});
