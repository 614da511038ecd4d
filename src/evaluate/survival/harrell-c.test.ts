import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sortFollowUp } from "./follow-up.js";
import { harrellC } from "./harrell-c.js";
import { type Cohort, cohorts, copied } from "./testing/cohorts.js";
import { golden } from "./testing/golden.js";

/** Over all pairs. */
function slowC({ time, status, predicted, weights }: Cohort): number | null {
	let [concordant, pairs] = [0, 0];
	for (const [i, day] of time.entries()) {
		if (status[i] !== 1) continue;
		for (const [j, other] of time.entries()) {
			if (other < day || (other === day && status[j] === 1)) continue;
			const weight = weights[i]! * weights[j]!;
			pairs += weight;
			concordant += (weight * (1 + Math.sign(predicted[i]! - predicted[j]!))) / 2;
		}
	}
	return pairs > 0 ? concordant / pairs : null;
}

const close = (value: number | null) => (value === null ? null : expect.closeTo(value, 12));

describe("Harrell's C", () => {
	test("agrees with R's survival", () => {
		const c = harrellC(sortFollowUp(golden), golden.predicted365)();
		expect(c).toBeCloseTo(golden.harrellC365, 10);
	});

	test("is the share of pairs, whatever was evaluated before", () => {
		fc.assert(
			fc.property(cohorts, (cohort) => {
				const c = harrellC(sortFollowUp(cohort), cohort.predicted);
				c();
				expect(c(cohort.weights)).toEqual(close(slowC(cohort)));
				const copies = copied(cohort);
				expect(c(cohort.weights)).toEqual(
					close(harrellC(sortFollowUp(copies), copies.predicted)()),
				);
			}),
		);
	});

	test.each([
		["no onsets", [1, 2], [0, 2], undefined],
		["everybody censored", [1, 2], [0, 0], undefined],
		["no weight", [1, 2], [1, 0], [0, 0]],
		["onsets on one day only", [1, 1], [1, 1], undefined],
		["no patients", [], [], undefined],
	])("is null with %s", (_, time, status, weights) => {
		const c = harrellC(
			sortFollowUp({ time, status }),
			time.map(() => 0.5),
		);
		expect(c(weights)).toBeNull();
	});
});
