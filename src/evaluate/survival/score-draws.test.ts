import { expect, test } from "vitest";
import { random } from "../../base/random.js";
import { sortFollowUp } from "./follow-up.js";
import { type DrawTable, lanes, scoreDraws } from "./score-draws.js";
import { onsetScores, scoreNames } from "./scores.js";
import { close, everywhere } from "./testing/cohorts.js";

/** A table of the same draws, patient by patient. */
function tableOf(draws: readonly (readonly number[])[], patients: number): DrawTable {
	const counts = new Uint8Array(Math.ceil(draws.length / lanes) * patients * lanes);
	for (const [draw, weights] of draws.entries())
		for (const [patient, weight] of weights.entries())
			counts[(Math.floor(draw / lanes) * patients + patient) * lanes + (draw % lanes)] = weight;
	return { patients, draws: draws.length, counts };
}

const orNull = (value: number | undefined) => (Number.isNaN(value) ? null : value);

test("the scores of every draw are those of its weights, whatever the number of draws", () => {
	everywhere((cohort, horizon) => {
		const { weights, predicted } = cohort;
		const draws = [weights, weights.toReversed(), weights.map(() => 1), weights.map(() => 0)];
		const all = [...draws, weights.map((weight) => weight % 2)];
		const followUp = sortFollowUp(cohort);
		const models = [predicted, predicted.map((risk) => risk ** 2)];
		const score = onsetScores(followUp, horizon, models);
		for (const count of [5, 4, 1]) {
			const evaluatedDraws = all.slice(0, count);
			const fast = scoreDraws(followUp, horizon, models, tableOf(evaluatedDraws, weights.length));
			for (const [draw, drawn] of evaluatedDraws.entries())
				for (const [model, scores] of score(drawn).entries())
					for (const name of scoreNames)
						expect(orNull(fast[model]?.[name][draw])).toEqual(close(scores[name]));
		}
	});
});

test("entries of some patients of a larger cohort, in the order of time", () => {
	const { uniform, integer } = random(7);
	const size = 300;
	const patient = Array.from({ length: size }, (_, i) => 2 * i + integer(2));
	const times = patient.map(() => uniform() * 1000);
	const risks = patient.map(() => uniform() * 0.3);
	const followUp = sortFollowUp({ time: times, status: patient.map(() => integer(3)), patient });
	const draws = Array.from({ length: 6 }, () => Array.from({ length: 2 * size }, () => integer(3)));
	const score = onsetScores(followUp, 400, [risks]);
	const [fast] = scoreDraws(followUp, 400, [risks], tableOf(draws, 2 * size));
	for (const [draw, weights] of draws.entries())
		for (const name of scoreNames)
			expect(fast?.[name][draw]).toEqual(close(score(weights)[0]?.[name]));
});
