import { describe, expect, test } from "vitest";
import { InputError } from "../../base/errors.js";
import { type Random, random } from "../../base/random.js";
import { cumulativeIncidence } from "./cumulative-incidence.js";
import { follow } from "./next-codes.js";
import { type SimulatedPatient, simulatedHistory } from "./patients.js";
import { drugCodes, pharmacy } from "./prescriptions.js";
import { simulateLife } from "./simulate-life.js";
import { State } from "./state.js";
import { codes, positionOf, size } from "./tables.js";
import { population, visitsOf } from "./testing/population.js";

const horizons = [365, 1096, 3652];

/** Somebody in the middle of the first policy, without prescriptions so far. */
interface Known {
	readonly patient: SimulatedPatient;
	readonly history: ReturnType<typeof simulatedHistory>;
	readonly day: number;
}

const people: readonly Known[] = population(5, 150)
	.map((patient) => {
		const [from, to] = patient.person.coverage[0];
		const day = Math.floor((from + to) / 2);
		return { patient, history: simulatedHistory(patient), day };
	})
	.filter(({ history, day }) => history.events.filter((event) => event.day <= day).length > 40);
const diabetic = people.find(({ patient, history, day }) =>
	history.events.some(
		(event) =>
			event.code === "250" && event.day < day - 400 && day - patient.person.birth > 45 * 365,
	),
)!;

/** Shares of simulated lives, which end with death, by the end of each horizon: [horizon, code]. */
function countFutures({ patient, day }: Known, lives: number) {
	const { person } = patient;
	const follower = follow({ ...person, coverage: [[person.coverage[0][0], day + 9999]] });
	const visits = visitsOf(patient).filter((visit) => visit.day <= day);
	for (const visit of visits)
		for (const at of visit.records) follower.observe(visit.day, codes[at]);
	const start = follower.state();
	start.enter(day + 1);
	const shares = {
		codes: new Float64Array(horizons.length * size),
		drugs: new Float64Array(horizons.length * drugCodes.length),
		death: new Float64Array(horizons.length),
	};
	const count = (out: Float64Array, position: number, on: number) => {
		for (const [k, days] of horizons.entries())
			if (on <= day + days) out[(k * out.length) / horizons.length + position] += 1 / lives;
	};
	const state = new State();
	for (let life = 0; life < lives; life++) {
		const stream = random(1).fork(life);
		state.copy(start);
		const drawn = stream.fork("drugs");
		let isPast = true;
		const fills: Random = { ...drawn, uniform: () => (isPast ? 1 - 1e-12 : drawn.uniform()) };
		const drugs = pharmacy(person, fills);
		for (const { day, records } of visits)
			drugs.prescribe(day, Int32Array.from(records), records.length);
		isPast = false;
		const filled = new Set<string>();
		const death = simulateLife(state, stream, day + 1, day + 3653, (on, visit, length) => {
			for (let i = 0; i < length; i++)
				if (state.count[visit[i]] === 0) count(shares.codes, visit[i], on);
			for (const { atc } of drugs.prescribe(on, visit, length)) {
				if (!filled.has(atc)) count(shares.drugs, drugCodes.indexOf(atc), on);
				filled.add(atc);
			}
		});
		if (death !== null) count(shares.death, 0, death);
	}
	return shares;
}

describe("cumulativeIncidence", () => {
	test("is the share of simulated lives with the first record, the first fill or death", () => {
		const [lives, futures, repeats] = [1500, 40, 8];
		for (const known of [people[0], diabetic]) {
			const shares = countFutures(known, lives);
			const estimates = Array.from({ length: repeats }, (_, seed) =>
				cumulativeIncidence(known.history, known.day, horizons, { futures, seed }),
			);
			for (const kind of ["codes", "drugs", "death"] as const) {
				let [squares, values] = [0, 0];
				let [ownVariance, countVariance] = [0, 0];
				for (const [i, share] of shares[kind].entries()) {
					const own = estimates.map((estimate) => estimate[kind][i]);
					const mean = own.reduce((a, b) => a + b) / repeats;
					if (Number.isNaN(mean) || mean < 0.004) continue;
					const variance = own.reduce((sum, x) => sum + (x - mean) ** 2, 0) / (repeats - 1);
					const binomial = mean * (1 - mean);
					squares += (share - mean) ** 2 / (binomial / lives + variance / repeats);
					values++;
					ownVariance += variance / binomial;
					countVariance += 1 / futures;
				}
				// Mean squared standardised difference: 1 if both estimate the same.
				expect(squares / values).toBeLessThan(values > 50 ? 1.4 : 6);
				// The variance relative to as many counted futures.
				expect(ownVariance / countVariance).toBeLessThan(kind === "codes" ? 0.05 : 0.5);
			}
		}
	});

	test("is NaN for what is recorded, 0 for what is impossible, and grows with the horizon", () => {
		const { patient, history, day } = diabetic;
		const prescriptions = [{ day: day - 100, atc: "A10AE04" }];
		const options = { futures: 32 };
		const treated = cumulativeIncidence({ ...history, prescriptions }, day, horizons, options);
		const untreated = cumulativeIncidence(history, day, horizons, options);
		const recorded = new Set(
			history.events.filter((event) => event.day <= day).map(({ code }) => code),
		);
		for (const [at, code] of codes.entries()) {
			const byHorizon = horizons.map((_, k) => treated.codes[k * size + at]);
			if (recorded.has(code)) expect(byHorizon).toEqual([Number.NaN, Number.NaN, Number.NaN]);
			else {
				expect(byHorizon[0]).toBeGreaterThanOrEqual(0);
				expect(byHorizon[1]).toBeGreaterThanOrEqual(byHorizon[0]);
				expect(byHorizon[2]).toBeGreaterThanOrEqual(byHorizon[1]);
				expect(byHorizon[2]).toBeLessThanOrEqual(1);
			}
		}
		const impossible = patient.person.sex === "female" ? "600" : "626";
		expect(treated.codes[positionOf(impossible)]).toBe(0);
		expect(treated.codes).toEqual(untreated.codes);
		const [glargine, aspart] = ["A10AE04", "A10AB05"].map((atc) => drugCodes.indexOf(atc));
		expect(treated.drugs[glargine]).toBe(Number.NaN);
		expect(untreated.drugs[glargine]).toBeGreaterThan(untreated.drugs[aspart]);
		expect(treated.drugs[aspart]).toBeGreaterThan(untreated.drugs[aspart]);
		expect(treated.death[1]).toBeGreaterThan(treated.death[0]);
	});

	test("depends on the seed and on what is known by the index day only", () => {
		const { history, day } = people[1];
		const ask = (more: Partial<typeof history> = {}, seed = 1) =>
			cumulativeIncidence({ ...history, ...more }, day, [365], { futures: 8, seed });
		expect(ask()).toEqual(ask());
		expect(ask({}, 2)).not.toEqual(ask());
		expect(ask({ events: history.events.filter((event) => event.day <= day) })).toEqual(ask());
		expect(ask({ coverage: [[history.coverage![0][0], day + 30]] })).toEqual(ask());
		expect(ask({ coverage: [[history.coverage![0][0] - 500, day]] })).not.toEqual(ask());
	});

	test("without futures in the other half, averages hazards", () => {
		const { history, day } = people[1];
		const { codes } = cumulativeIncidence(history, day, [365], { futures: 1 });
		expect(codes.filter((p) => p > 0).length).toBeGreaterThan(150);
	});

	test("rejects a day before the first policy, and horizons that do not grow", () => {
		const { history } = people[0];
		const first = history.coverage![0][0];
		expect(() => cumulativeIncidence(history, first - 1, [365])).toThrow(InputError);
		expect(() => cumulativeIncidence(history, first - 1, [365])).toThrow(
			`got ${first - 1}, expected at least ${first}`,
		);
		expect(() => cumulativeIncidence(history, first, [365, 365])).toThrow(
			"horizons must be increasing whole numbers of days: 365 → 365",
		);
	});
});
