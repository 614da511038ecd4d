import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { random } from "../base/random.js";
import { binnedRows } from "./binned-rows.js";
import * as trees from "./boosted-trees.js";
import * as glm from "./glm.js";
import { slowTrees } from "./testing/slow-trees.js";

const settings: trees.TreeSettings = {
	leaves: 8,
	depth: 5,
	learningRate: 0.1,
	l2: 1,
	minHessian: 0.1,
	rounds: 50,
	patience: 50,
};
const families = { logistic: glm.logistic, poisson: glm.poisson };

/** Rows of few or many values, mostly 0 in all columns but the first, and events that depend on them; some rows do not count. */
function generated(seed: number, count: number, width: number, few: boolean) {
	const draw = random(seed);
	const value = () => (few ? draw.integer(6) - 2 : draw.normal());
	const dense = Array.from({ length: count }, () =>
		Array.from({ length: width }, (_, j) => (j === 0 || draw.uniform() < 0.4 ? value() : 0)),
	);
	const exposure = Float64Array.from(dense, () =>
		draw.uniform() < 0.1 ? 0 : 0.2 + draw.uniform(),
	);
	const events = exposure.map((trials, row) => {
		const [first = 0, second = 0, third = 0] = dense[row]!;
		const probability = 1 / (1 + Math.exp(0.5 - first + second * third));
		return trials * Number(draw.uniform() < probability);
	});
	return { dense, rows: glm.sparseRows(dense), outcomes: { events, exposure }, draw };
}

/** Validated on the rows that it learns from, so that no round is left out. */
function fitOn(
	family: glm.Family,
	rows: glm.SparseRows,
	outcomes: glm.Outcomes,
	changes: Partial<trees.TreeSettings> = {},
	offset?: Float64Array,
) {
	const learned = { rows: binnedRows(rows), outcomes, offset };
	return trees.fitTrees(family, { train: learned, valid: learned }, { ...settings, ...changes });
}

test("equals a search of all splits by exact values", () => {
	const small = fc.record({
		seed: fc.integer(),
		count: fc.integer({ min: 5, max: 40 }),
		width: fc.integer({ min: 1, max: 4 }),
		family: fc.constantFrom(glm.logistic, glm.poisson),
		changes: fc.record({
			leaves: fc.integer({ min: 2, max: 6 }),
			depth: fc.integer({ min: 1, max: 4 }),
			l2: fc.constantFrom(0, 0.5),
			minHessian: fc.constantFrom(1e-3, 0.3, 1),
			rounds: fc.integer({ min: 1, max: 4 }),
		}),
	});
	fc.assert(
		fc.property(small, ({ seed, count, width, family, changes }) => {
			const { dense, rows, outcomes, draw } = generated(seed, count, width, true);
			const offset = Float64Array.from(dense, () => draw.normal() / 2);
			const fast = fitOn(family, rows, outcomes, changes, offset).trees;
			const slow = slowTrees(family, dense, outcomes, offset, { ...settings, ...changes });
			const nodes = slow.flat();
			expect(Array.from(fast.columns)).toEqual(nodes.map(({ column }) => column));
			expect(Array.from(fast.thresholds)).toEqual(nodes.map(({ threshold }) => threshold));
			for (const [node, { value }] of nodes.entries())
				expect(fast.values[node]).toBeCloseTo(value, 9);
		}),
		{ numRuns: 300 },
	);
});

describe("agrees with scikit-learn", () => {
	const fixture = JSON.parse(
		readFileSync(new URL("fixtures/boosted-trees.json", import.meta.url), "utf8"),
	);
	const { labels, weights } = fixture.logistic;
	const { events, exposure } = fixture.poisson;
	const outcomes = {
		logistic: glm.weightedLabels(labels, weights),
		poisson: { events: Float64Array.from(events), exposure: Float64Array.from(exposure) },
	};

	// scikit-learn keeps gradients in single precision.
	test.each(["logistic", "poisson"] as const)("%s", (name) => {
		const rows = glm.sparseRows(fixture.rows);
		const fit = fitOn(families[name], rows, outcomes[name], fixture.settings);
		const eta = trees.predictTrees(fit.trees, rows);
		for (const [row, expected] of fixture[name].eta.entries())
			expect(Math.abs(eta[row]! - expected)).toBeLessThan(1e-7);
	});
});

describe.each(["logistic", "poisson"] as const)("%s", (name) => {
	const family = families[name];
	const { rows, outcomes, dense } = generated(11, 2000, 30, false);

	test("lowers the loss with every round", () => {
		const losses = [0, 1, 2, 3, 10, 50].map(
			(rounds) => fitOn(family, rows, outcomes, { rounds }).validLoss,
		);
		for (const [i, loss] of losses.slice(1).entries()) expect(loss).toBeLessThan(losses[i]!);
	});

	test("predicts what it fitted", () => {
		const offset = Float64Array.from(dense, ([first = 0]) => first / 3);
		const { trees: fit, validLoss } = fitOn(family, rows, outcomes, {}, offset);
		const eta = trees.predictTrees(fit, rows, offset);
		expect(glm.lossOf(family, outcomes, eta)).toBeCloseTo(validLoss, 8);
	});

	test("takes Newton steps in its leaves", () => {
		const fit = fitOn(family, rows, outcomes, { leaves: 2, rounds: 1, learningRate: 1 }).trees;
		const [column, threshold] = [fit.columns[0]!, fit.thresholds[0]!];
		for (const right of [0, 1]) {
			let [gradient, hessian] = [0, 0];
			for (const [row, values] of dense.entries()) {
				if (Number(values[column]! > threshold) !== right) continue;
				const mean = family.mean(fit.start);
				gradient += outcomes.exposure[row]! * mean - outcomes.events[row]!;
				hessian += outcomes.exposure[row]! * family.variance(mean);
			}
			expect(fit.values[fit.lefts[0]! + right]).toBeCloseTo(-gradient / (hessian + 1), 10);
		}
	});

	test("starts where events are as many as expected", () => {
		const sum = (values: Float64Array) => values.reduce((all, value) => all + value, 0);
		const offset = Float64Array.from(dense, ([first = 0]) => first - 4);
		const { start } = fitOn(family, rows, outcomes, { rounds: 0 }, offset).trees;
		const expected = outcomes.exposure.map(
			(exposure, row) => exposure * family.mean(start + offset[row]!),
		);
		expect(sum(expected)).toBeCloseTo(sum(outcomes.events), 8);
	});

	test("takes no notice of rows without exposure", () => {
		const counted = [...dense.keys()].filter((row) => outcomes.exposure[row] !== 0);
		const wrong = outcomes.events.map((events, row) =>
			outcomes.exposure[row] === 0 ? 1e6 : events,
		);
		const all = { rows: binnedRows(rows), outcomes: { ...outcomes, events: wrong } };
		const countedRows = {
			rows: binnedRows(glm.sparseRows(counted.map((row) => dense[row]!)), all.rows.bins),
			outcomes: {
				events: Float64Array.from(counted, (row) => outcomes.events[row]!),
				exposure: Float64Array.from(counted, (row) => outcomes.exposure[row]!),
			},
		};
		const fit = trees.fitTrees(family, { train: all, valid: countedRows }, settings);
		expect(fit).toEqual(trees.fitTrees(family, { train: countedRows, valid: all }, settings));
	});

	test("grows nothing without events", () => {
		const none = { ...outcomes, events: new Float64Array(dense.length) };
		const { trees: fit, validLoss } = fitOn(family, rows, none);
		expect(fit.roots).toEqual(Int32Array.of(0));
		expect(fit.start).toBeLessThan(-30);
		expect(validLoss).toBeCloseTo(0, 8);
	});
});

describe("early stopping", () => {
	const { rows, outcomes } = generated(12, 600, 10, false);
	const other = generated(13, 300, 10, false);
	const train = { rows: binnedRows(rows), outcomes };
	const data = {
		train,
		valid: { rows: binnedRows(other.rows, train.rows.bins), outcomes: other.outcomes },
	};
	const fitWith = (changes: Partial<trees.TreeSettings>) =>
		trees.fitTrees(glm.logistic, data, { ...settings, ...changes });

	test("keeps the trees up to the least validation loss", () => {
		const fit = fitWith({ rounds: 300, patience: 10, learningRate: 0.3 });
		const count = fit.trees.roots.length - 1;
		expect(count).toBeGreaterThan(3);
		expect(count).toBeLessThan(290);
		for (let rounds = count; rounds <= count + 10; rounds++) {
			const shorter = fitWith({ rounds, learningRate: 0.3 });
			expect(shorter.trees).toEqual(fit.trees);
			expect(shorter.validLosses).toEqual(fit.validLosses.slice(0, rounds + 1));
		}
		expect(fit.validLosses[count]).toBe(fit.validLoss);
		expect(Math.min(...fit.validLosses)).toBe(fit.validLoss);
		const eta = trees.predictTrees(fit.trees, other.rows);
		expect(glm.lossOf(glm.logistic, other.outcomes, eta)).toBeCloseTo(fit.validLoss, 8);
	});
});
