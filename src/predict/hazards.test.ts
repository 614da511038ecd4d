import { afterAll, describe, expect, test } from "vitest";
import { nodeRuntime } from "../engine/runtime/node.js";
import { hazardSettings, outputsOf } from "../model/hazards/settings.js";
import { drawnModel } from "../model/hazards/testing/drawn-model.js";
import { historyWith } from "../model/hazards/testing/histories.js";
import { hazardModel, hazardSettingsOf } from "./hazards.js";

const runtime = nodeRuntime({ threads: 1 });
const vocab = 12;
const settings = hazardSettings.parse({});

const history = historyWith([
	[1500, 5],
	[1800, 6],
	[1800, 7],
	[2600, 5],
	[3000, 8],
]);

afterAll(async () => runtime.dispose?.());

const past = historyWith([
	[1500, 5],
	[1800, 6],
	[1800, 7],
]);

const distance = (a: Float32Array, b: Float32Array) =>
	a.reduce((most, value, i) => Math.max(most, Math.abs(value - b[i])), 0);

describe.each(["trajgpt", "gpt2", "patchtst"])("hazards of %s", (id) => {
	const model = hazardModel(runtime, drawnModel(id, vocab, settings));
	afterAll(() => model.dispose());

	test("do not depend on what comes after the index day, or on other patients", async () => {
		const all = await model.at([history, history], [[2000], [3500]]);
		const cut = await model.at([past], [[2000]]);
		expect(distance(all.codes(0), cut.codes(0))).toBeLessThan(1e-4);
		expect(distance(all.codes(0), all.codes(1))).toBeGreaterThan(1e-3);
	});

	test("on several days are those of each day alone", async () => {
		const days = [1200, 1800, 2000, 3500];
		const together = await model.at([history], [days]);
		for (const [i, day] of days.entries()) {
			const alone = await model.at([history], [[day]]);
			expect(distance(together.codes(i), alone.codes(0))).toBeLessThan(1e-4);
			expect(distance(together.visits(i), alone.visits(0))).toBeLessThan(1e-4);
		}
	});

	test("give probabilities that grow with the horizon", async () => {
		const hazards = await model.at([history], [[2000]]);
		const [year, decade] = [hazards.incidence(0, 365), hazards.incidence(0, 3652)];
		expect(year).toHaveLength(outputsOf(settings, vocab).count);
		for (let output = 5; output < year.length; output++) {
			expect(year[output]).toBeGreaterThan(0);
			expect(decade[output]).toBeGreaterThan(year[output]);
			expect(decade[output]).toBeLessThan(1);
		}
		expect(hazards.visits(0).every(Number.isFinite)).toBe(true);
	});
});

test("a model without hazards is refused with advice", () => {
	expect(() => hazardSettingsOf({ config: { hazards: null } })).toThrow(/trajgpt pretrain/);
});
