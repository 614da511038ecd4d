import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { random } from "../../../base/random.js";
import { specialTokens } from "../../../data/cohort/vocabulary.js";
import { predictTrees } from "../../boosted-trees.js";
import * as glm from "../../glm.js";
import { hazardSettings } from "../../hazards/settings.js";
import {
	familiesOfColumns,
	labelFamilies,
	labelRows,
	lastEvents,
	storedLogOdds,
} from "./label-features.js";
import * as regressions from "./label-regression.js";
import { recordColumns } from "./record-features.js";

const { male } = specialTokens;
const [cause, noise] = [5, 6];
const vocab = 7;
const settings = hazardSettings.parse({ groups: [{ name: "both", tokens: [cause, noise] }] });
const columns = { settings, vocab, related: [cause] };
const recordWidth = recordColumns(settings, vocab).width;
const familyIndex = (name: (typeof labelFamilies)[number]) => labelFamilies.indexOf(name);

/** The values of a row by column. */
function valuesOf({ starts, ends, columns, values }: glm.SparseRows, row: number) {
	const pairs = new Map<number, number>();
	for (let i = starts[row]; i < ends[row]; i++) pairs.set(columns[i], values[i]);
	return pairs;
}

test("rows have the records, age and sex, related records and known log-odds", () => {
	const birth = -60 * 365.25;
	const rows = labelRows(
		columns,
		[
			{ tokens: [male, cause, cause, noise], times: [birth, -10, 0, 0], at: 0.5 },
			{ tokens: [noise], times: [3] },
		],
		[-2, 0],
	);
	const families = familiesOfColumns(columns);
	const first = valuesOf(rows, 0);
	const ofFamily = (values: Map<number, number>, name: (typeof labelFamilies)[number]) =>
		[...values].flatMap(([column, value]) =>
			families[column] === familyIndex(name) ? [value] : [],
		);
	expect(first.get(cause)).toBeCloseTo(Math.log(3), 6);
	expect(first.get(noise)).toBeCloseTo(Math.log(2), 6);
	expect(families[recordWidth - 1]).toBe(-1);
	expect(first.get(recordWidth - 1)).toBe(1);
	const [age, sex, ...hats] = ofFamily(first, "age and sex");
	expect(age).toBeCloseTo(0.5, 6);
	expect(sex).toBe(1);
	// Two hats that sum to 1, and the same for men.
	expect(hats).toHaveLength(4);
	expect(hats.reduce((sum, hat) => sum + hat, 0)).toBeCloseTo(2, 6);
	expect(ofFamily(first, "related records")).toEqual([Math.fround(Math.log(3)), 1]);
	expect(ofFamily(first, "known log-odds")).toEqual([-2]);
	const second = valuesOf(rows, 1);
	for (const name of ["age and sex", "related records", "known log-odds"] as const)
		expect(ofFamily(second, name)).toEqual([]);
});

test("the last events of a history are its birth and those that a network reads", () => {
	const history = { tokens: [male, cause, cause, noise, noise], times: [-900, 1, 2, 3, 4] };
	expect(lastEvents(history, 6)).toEqual(history);
	expect(lastEvents(history, 5)).toEqual({
		tokens: [male, cause, noise, noise],
		times: [-900, 2, 3, 4],
		at: 4,
	});
	const unborn = { tokens: [cause, cause, noise], times: [1, 2, 3], at: 9 };
	expect(lastEvents(unborn, 3)).toEqual({ tokens: [cause, noise], times: [2, 3], at: 9 });
});

test("a regression of other families is refused", () => {
	const stored = { families: ["records"], groups: [], related: [], coefficients: [1, 2] };
	expect(() => storedLogOdds(vocab, stored, [])).toThrow("has 2 coefficients of records, expected");
});

describe("parts", () => {
	const labelsWith = (positive: number, all: number, from = 0) =>
		Array.from({ length: all }, (_, i) => ({ patient: from + i, value: i < positive }));

	test("are the validation labels if these are enough", () => {
		const parts = regressions.heldOutParts(labelsWith(10, 30), labelsWith(50, 100, 30));
		expect([...parts]).toEqual([...Array(30).fill(-1), ...Array(100).fill(0)]);
	});

	test("otherwise divide all people, equally many positive ones in each", () => {
		const [train, valid] = [labelsWith(24, 175), labelsWith(3, 26, 175)];
		const parts = regressions.heldOutParts(train, [...valid, ...train.slice(0, 5)]);
		const sizes = Array.from({ length: 10 }, () => ({ positive: 0, all: 0 }));
		for (const [i, { value }] of [...train, ...valid].entries()) {
			sizes[parts[i]]!.all++;
			sizes[parts[i]]!.positive += Number(value);
		}
		for (const { positive, all } of sizes) {
			expect([2, 3]).toContain(positive);
			expect([20, 21]).toContain(all);
		}
		// Labels of one person stay together.
		expect([...parts.subarray(-5)]).toEqual([...parts.subarray(0, 5)]);
	});
});

/** Labels that follow the cause, which is a related record or not. */
function examplesOf(people: number, effect: number, related: readonly number[]) {
	const draw = random(people);
	const labels = Array.from({ length: people }, (_, patient) => {
		const tokens = [draw.uniform() < 0.5 ? cause : noise, noise];
		const odds = tokens[0] === cause ? effect : -2;
		return { patient, tokens, value: draw.uniform() < 1 / (1 + Math.exp(-odds)) };
	});
	const histories = labels.map(({ tokens }) => ({ tokens, times: [1, 2], at: 2 }));
	const examples = {
		rows: labelRows({ ...columns, related }, histories),
		outcomes: regressions.labelOutcomes(labels),
		parts: regressions.crossValidationParts(labels),
	};
	return { columns: { ...columns, related }, examples };
}

describe("penalties", () => {
	const chosen = (people: number, effect: number, related: readonly number[]) => {
		const { columns, examples } = examplesOf(people, effect, related);
		return regressions.choosePrecisions(columns, examples);
	};

	test("leave everything out where nothing helps", () => {
		expect(new Set(chosen(200, -2, [cause])).size).toBe(1);
	});

	test("let in related records, or all records, where these tell", () => {
		const withRelated = chosen(200, 0, [cause]);
		const out = withRelated[familyIndex("known log-odds")]!;
		expect(withRelated[familyIndex("related records")]).toBeLessThan(out);
		expect(withRelated[familyIndex("records")]).toBe(out);
		expect(chosen(200, 0, [])[familyIndex("records")]).toBeLessThan(out);
	});

	test("out-of-part predictions are those of a fit without the part", () => {
		const { columns, examples } = examplesOf(120, 1, [cause]);
		const precisions = labelFamilies.map(() => 1);
		const outside = regressions.logOddsOutside(columns, examples, precisions);
		const { events, exposure } = examples.outcomes;
		const withoutFirst = {
			events,
			exposure: exposure.map((weight, row) => (examples.parts[row] === 0 ? 0 : weight)),
		};
		const fit = regressions.fitLabels(
			columns,
			{ rows: examples.rows, outcomes: withoutFirst },
			precisions,
		);
		const predicted = glm.linearPredictor(examples.rows, fit);
		for (const [row, part] of examples.parts.entries())
			if (part === 0) expect(outside[row]).toBeCloseTo(predicted[row]!, 3);
	});
});

test("boosted trees find what distinguishes labels, and stop where nothing does", () => {
	const told = examplesOf(200, 2, []).examples;
	const odds = predictTrees(regressions.fitLabelTrees(told), told.rows);
	for (const [row, z] of odds.entries()) {
		const hasCause = valuesOf(told.rows, row).has(cause);
		expect(Math.abs(z - (hasCause ? 2 : -2))).toBeLessThan(1);
	}
	const equal = examplesOf(200, -2, []).examples;
	const { events } = equal.outcomes;
	const share = events.reduce((sum, event) => sum + event, 0) / events.length;
	for (const z of predictTrees(regressions.fitLabelTrees(equal), equal.rows))
		expect(Math.abs(z - Math.log(share / (1 - share)))).toBeLessThan(0.5);
});

test("equals scikit-learn's logistic regression with a penalty per family", () => {
	const fixture = JSON.parse(
		readFileSync(new URL("fixtures/label-regression.json", import.meta.url), "utf8"),
	);
	const rows = labelRows(columns, fixture.histories);
	const outcomes = glm.weightedLabels(fixture.labels, fixture.weights);
	// The other fit does without these columns.
	const precisions = fixture.precisions.toSpliced(familyIndex("two or more records"), 0, 1e12);
	const fit = regressions.fitLabels(columns, { rows, outcomes }, precisions);
	for (const [row, z] of glm.linearPredictor(rows, fit).entries())
		expect(z).toBeCloseTo(fixture.logOdds[row], 4);
});
