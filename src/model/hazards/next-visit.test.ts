import { expect, test } from "vitest";
import { random } from "../../base/random.js";
import { evaluate, relativeError } from "../../engine/runtime/testing/evaluate.js";
import { constant, input } from "../../engine/tensor/index.js";
import { ageFeatures, pastFeatures } from "./landmarks.js";
import { nextVisit, nextVisitFrom, nextVisitNats, visitWeights } from "./next-visit.js";
import { hazardSettings } from "./settings.js";

const settings = hazardSettings.parse({ binDays: [10, 100], visitBinDays: [1] }); // visit bins end on days 1, 10, 100

/** Days at risk of a visit and of death, records of the visit, new ones; and what the likelihood then has. */
const cases = [
	{ name: "a visit on day 1", at: [-1, 1, 1, 0], visit: 0, days: [1, 0, 0], dies: undefined },
	{ name: "a visit on the last day of a bin", at: [-10, 10, 3, 2], visit: 1, days: [1, 9, 0] },
	{ name: "a visit after the last bin", at: [-150, 150, 2, 1], visit: undefined, days: [1, 9, 90] },
	{ name: "the end of observation", at: [40, 40, 0, 0], visit: undefined, days: [1, 9, 30] },
	{ name: "death before a visit", at: [5, -5, 0, 0], visit: undefined, days: [1, 4, 0], dies: 1 },
	{
		name: "death on the day of a visit",
		at: [-30, -30, 1, 1],
		visit: 2,
		days: [1, 9, 20],
		dies: 2,
	},
] as const;

test.each(cases)("−log likelihood of $name", async ({ at, days, ...then }) => {
	const logs = {
		visits: [-2, -3, -4],
		deaths: [-6, -7, -8],
		oneRecord: [1, 0.2, -0.5],
		visitEnd: [0.3, -0.7, 0.9],
		newAlone: [0.4, -0.2, -0.6],
		newCodes: [-1, 0.5, 1],
	};
	const tensor = (name: string) => input(name, [1, 3]);
	const nats = nextVisitNats(settings, {
		visits: tensor("visits"),
		deaths: tensor("deaths"),
		oneRecord: tensor("oneRecord"),
		visitEnd: tensor("visitEnd"),
		newAlone: tensor("newAlone"),
		newCodes: tensor("newCodes"),
	});
	const [visitRisk, visitDeathRisk, visitRecords, newRecords] = at;
	const outcomes = { visitRisk, visitDeathRisk, visitRecords, newRecords };
	const found = await evaluate(
		{ nats },
		{
			...logs,
			...Object.fromEntries(
				Object.entries(outcomes).map(([name, value]) => [`hazards.${name}`, [value]]),
			),
		},
	);
	const softplus = (x: number) => Math.log1p(Math.exp(x));
	let expected = 0;
	for (const [bin, count] of days.entries())
		for (const hazard of [logs.visits, logs.deaths]) expected += count * Math.exp(hazard[bin]);
	const { visit } = then;
	if (visit !== undefined) {
		const isOne = (visitRecords as number) === 1;
		const [one, end] = [logs.oneRecord[visit], logs.visitEnd[visit]];
		const fresh = (isOne ? logs.newAlone : logs.newCodes)[visit];
		expected -= logs.visits[visit];
		expected += visitRecords * softplus(fresh) - newRecords * fresh;
		expected += softplus(one) - (isOne ? one : 0);
		// Every record after the first but the last is followed by another.
		if (!isOne) expected += (visitRecords - 2) * softplus(end) + softplus(-end);
	}
	if ("dies" in then && then.dies !== undefined) expected -= logs.deaths[then.dies];
	expect(relativeError(found.nats, [expected])).toBeLessThan(1e-6);
});

test("deaths before the next visit have no weights for the state: they would be learned by heart", () => {
	const names = Object.keys(visitWeights(settings, 4));
	const withState = names.filter((name) => name.endsWith(".state"));
	expect(withState).not.toContain("visitDeath.state");
	expect(withState).toHaveLength(names.filter((name) => name.endsWith(".bias")).length - 1);
});

test("the next visit from the state of one bin is that of all states in this bin", async () => {
	const [landmarks, width, visitBins] = [3, 4, 3];
	const draw = random(1);
	const drawn = (...shape: number[]) =>
		constant(
			Array.from({ length: shape.reduce((a, b) => a * b) }, () => draw.normal()),
			shape,
		);
	const weights = new Map(
		Object.entries(visitWeights(settings, width)).map(([name, { shape }]) => [
			`hazards.${name}`,
			drawn(...shape),
		]),
	);
	const states = drawn(landmarks, 2, width);
	const features = {
		ages: drawn(landmarks, ageFeatures),
		sinceAny: constant([-1, 0, 40], [landmarks, 1]),
		past: drawn(landmarks, pastFeatures),
	};
	const p = (name: string) => weights.get(name)!;
	const all = await evaluate({ ...nextVisit(settings, p, states, features) }, {});
	for (const [bin, places] of [[0, 1], [2]].entries()) {
		const state = states.slice(1, bin, bin + 1).reshape([landmarks, width]);
		const own = await evaluate({ ...nextVisitFrom(p, state, features, visitBins) }, {});
		for (const name of Object.keys(all) as (keyof typeof all)[])
			for (let landmark = 0; landmark < landmarks; landmark++)
				for (const place of places) {
					const at = landmark * visitBins + place;
					expect(own[name][at]).toBeCloseTo(all[name][at], 5);
				}
	}
});
