import { expect, test } from "vitest";
import type { LabelPrediction } from "./evaluation.js";
import { plpTables } from "./predictions.js";

const row = (
	probability: number,
	label: boolean | null,
	sex: LabelPrediction["sex"],
	ageYears: number | null,
): LabelPrediction => ({ patient: `p${probability}`, time: 0, probability, label, sex, ageYears });

const predictions = [
	row(0.8, true, "male", 62.5),
	row(0.6, false, "female", 63.9),
	row(0.4, true, "female", 60),
	row(0.2, false, "male", null),
	row(0.9, null, "male", 62),
];
const tables = plpTables(predictions, {
	...{ evaluation: "Validation", draws: 20, seed: 1 },
	attrition: [{ description: "with a known label", patients: 4, outcomes: 2 }],
});

/** The rows of a table by column. */
const recordsOf = (name: keyof typeof tables) => {
	const { header, rows } = tables[name];
	return rows.map((cells) => Object.fromEntries(header.map((column, at) => [column, cells[at]])));
};

const near = (value: number) => expect.closeTo(value, 10);

test("the statistics are those of the predictions with a label", () => {
	const found = Object.fromEntries(
		recordsOf("evaluation_statistics").map(({ metric, value }) => [metric, value]),
	);
	expect(found).toMatchObject({
		...{ populationSize: 4, outcomeCount: 2, AUROC: near(3 / 4), AUPRC: near(5 / 6) },
		...{ "brier score": near(0.2), "brier score scaled": near(0.2) },
		"calibrationInLarge mean prediction": near(0.5),
		"calibrationInLarge observed risk": near(0.5),
		"calibrationInLarge intercept": expect.closeTo(0, 6),
		"weak calibration intercept": expect.closeTo(0, 6),
	});
	// The gradient of the likelihood is zero there.
	const slope = found["weak calibration gradient"] as number;
	const sigmoid = (z: number) => 1 / (1 + Math.exp(-z));
	const [far, close] = [Math.log(4), Math.log(1.5)];
	expect((sigmoid(slope * far) - 1) * far + sigmoid(slope * close) * close).toBeCloseTo(0, 5);
	const [low, high] = ["lower", "upper"].map((end) => found[`95% ${end} AUROC`] as number);
	expect([0 <= low, low <= 0.75, 0.75 <= high, high <= 1]).toEqual([true, true, true, true]);
});

test("each threshold has its counts and rates, empty where they are not defined", () => {
	const found = recordsOf("threshold_summary");
	const counts = (at: number) =>
		["true_positive", "false_positive", "false_negative", "true_negative"].map(
			(name) => found[at]?.[`${name}_count`],
		);
	expect(found.map((own) => own.prediction_threshold)).toEqual([0.8, 0.6, 0.4, 0.2]);
	expect([0, 1, 2, 3].map(counts)).toEqual([
		[1, 0, 1, 2],
		[1, 1, 1, 1],
		[2, 1, 0, 1],
		[2, 2, 0, 0],
	]);
	expect(found[0]).toMatchObject({
		...{ preference_threshold: near(0.8), f_1_score: near(2 / 3), accuracy: near(3 / 4) },
		...{ sensitivity: near(0.5), specificity: near(1), positive_predictive_value: near(1) },
		...{ negative_predictive_value: near(2 / 3), false_omission_rate: near(1 / 3) },
		...{ positive_likelihood_ratio: null, negative_likelihood_ratio: near(0.5) },
		diagnostic_odds_ratio: null,
	});
	expect(found[1]).toMatchObject({ diagnostic_odds_ratio: near(1), f_1_score: near(0.5) });
	expect(found[3]).toMatchObject({ negative_predictive_value: null, false_positive_rate: 1 });
});

test("strata, groups and other tables count every prediction with a label once", () => {
	expect(
		recordsOf("calibration_summary").map((own) => [
			own.prediction_threshold,
			own.person_count_at_risk,
			own.average_predicted_probability,
			own.observed_incidence,
		]),
	).toEqual([
		[0, 1, near(0.2), 0],
		[near(0.38), 1, near(0.4), 1],
		[near(0.56), 1, near(0.6), 0],
		[near(0.74), 1, near(0.8), 1],
	]);
	const [women, men, ...others] = recordsOf("demographic_summary");
	expect(others).toEqual([]);
	expect(women).toMatchObject({
		...{ age_group: "Age group: 60-64", gen_group: "Female", person_count_at_risk: 2 },
		...{ person_count_with_outcome: 1, average_predicted_probability: near(0.5) },
		st_dev_predicted_probability: near(Math.sqrt(0.02)),
		...{ p_25_predicted_probability: near(0.45), max_predicted_probability: near(0.6) },
	});
	expect(men).toMatchObject({ person_count_at_risk: 1, st_dev_predicted_probability: null });
	expect(recordsOf("performances")).toMatchObject([
		{ development_database_id: 1, validation_database_id: 2, model_development: 0 },
	]);
	expect(recordsOf("attrition")).toMatchObject([{ target_count: 4, outcomes: 2 }]);
});
