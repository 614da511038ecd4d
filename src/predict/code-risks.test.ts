import { afterAll, describe, expect, test } from "vitest";
import { random } from "../base/random.js";
import { nodeRuntime } from "../engine/runtime/node.js";
import { hazardSettings } from "../model/hazards/settings.js";
import { drawnModel } from "../model/hazards/testing/drawn-model.js";
import { hazardModel } from "./hazards.js";
import { incidences } from "./incidence.js";
import { codeRisk } from "./represent.js";

const runtime = nodeRuntime({ threads: 1 });
afterAll(async () => runtime.dispose?.());

const vocab = 12;
const settings = hazardSettings.parse({ groups: [{ name: "two", tokens: [7, 8] }] });

/** A patient's history, born 30 years before, with records on every tenth day, two on each. */
function historyOf(patient: number, records: number) {
	const draw = random(3).fork(patient);
	const tokens = [3, ...Array.from({ length: records }, () => 5 + draw.integer(vocab - 5))];
	const times = [-10_950, ...Array.from({ length: records }, (_, i) => 10 * Math.floor(i / 2))];
	return { tokens, times };
}

/** Labels of patients with different numbers of them; those of an odd number of events leave out one of their day. */
const labels = [
	...[0, 1, 2].map((patient) => ({ patient, events: 4 + patient })),
	...[2, 5, 9, 13].map((events) => ({ patient: 3, events })),
	...[11, 3, 6].map((events) => ({ patient: 4, events })),
].map(({ patient, events }) => {
	const { tokens, times } = historyOf(patient, 14);
	const seen = { tokens: tokens.slice(0, 1 + events), times: times.slice(0, 1 + events) };
	return { patient, view: { ...seen, at: seen.times[events] + 0.5 } };
});
const views = labels.map(({ view }) => view);
const patients = labels.map(({ patient }) => patient);

describe.each(["trajgpt", "gpt2", "patchtst"])("risks of %s", (id) => {
	const learned = drawnModel(id, vocab, settings);

	test.each([
		...[
			{ what: "of one code within some of the bins", tokens: [6], horizonDays: 183 },
			{ what: "of a group within part of a bin", tokens: [8, 7], horizonDays: 400 },
			{ what: "of independent codes within all bins", tokens: [5, 9, 10], horizonDays: 3652 },
		],
	])("$what are those of `incidences`", async ({ tokens, horizonDays }) => {
		const all = hazardModel(runtime, learned);
		const days = views.map(({ at }) => [at]);
		const expected = await incidences(all, views, [tokens], days, [horizonDays]);
		await all.dispose();
		const own = codeRisk(runtime, learned, { tokens, horizonDays });
		const alone = await own.at(views);
		const shared = await own.at(views, patients);
		await own.dispose();
		for (const [i, [risk]] of expected.entries()) {
			expect(alone[i]).toBeCloseTo(risk?.probabilities[0], 5);
			expect(shared[i]).toBeCloseTo(risk?.probabilities[0], 5);
		}
		expect(new Set(alone).size).toBe(views.length);
	});

	test("with the rest of the day, a further record of it counts", async () => {
		const asked = { tokens: [8, 7], horizonDays: 183 };
		const [later, from] = [
			codeRisk(runtime, learned, asked),
			codeRisk(runtime, learned, { ...asked, sameDay: true }),
		];
		const [after, both] = [await later.at(views), await from.at(views, patients)];
		await later.dispose();
		await from.dispose();
		const predictor = learned.model.predictor(runtime, learned.config, learned.weights);
		for (const [i, view] of views.entries()) {
			const { logProbabilities } = await predictor.score([view], [[view.at]]);
			const today = Math.exp(logProbabilities[7]) + Math.exp(logProbabilities[8]);
			expect(today).toBeGreaterThan(0.001);
			expect(both[i]).toBeCloseTo(1 - (1 - after[i]) * (1 - today), 5);
		}
		await predictor.dispose();
	});
});

test("there are as many risks as views, also of none", async () => {
	const own = codeRisk(runtime, drawnModel("trajgpt", vocab, settings), {
		tokens: [6],
		horizonDays: 365,
	});
	expect(await own.at([], [])).toEqual(new Float64Array(0));
	await own.dispose();
});

test("a horizon beyond the last bin is refused", () => {
	expect(() =>
		codeRisk(runtime, drawnModel("trajgpt", vocab, settings), { tokens: [6], horizonDays: 4000 }),
	).toThrow("the horizon is 4000 days; expected more than 0 and at most 3652");
});
