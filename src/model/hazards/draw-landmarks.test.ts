import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { random } from "../../base/random.js";
import { drawDay, drawLandmark, drawVisit, knownAt } from "./draw-landmarks.js";
import { landmarkValues } from "./landmarks.js";
import { hazardSettings, outputsOf } from "./settings.js";
import { historyWith, wholeRow } from "./testing/histories.js";

const settings = hazardSettings.parse({});
const history = historyWith(
	Array.from({ length: 40 }, (_, n) => [1200 + 100 * Math.floor(n / 2), 5 + (n % 3)] as const),
);

describe("a landmark", () => {
	test("lies in observed time, before death; first records count after the look-back", () => {
		fc.assert(
			fc.property(fc.nat(1e6), (seed) => {
				const own = { ...history, death: 4000 };
				const found = drawLandmark(settings, wholeRow(own), 1, random(seed));
				if (!found) return;
				expect(found.day).toBeGreaterThanOrEqual(1000);
				expect(found.day).toBeLessThan(4000);
				expect(found).toMatchObject({ until: 4000, died: true, onset: found.day >= 1365 });
			}),
			{ seed: 1 },
		);
	});

	test("of a part of a history lies where the part holds the latest records", () => {
		fc.assert(
			fc.property(fc.nat(1e6), (seed) => {
				const source = { history, from: 11, to: 25 };
				const found = drawLandmark(settings, source, 1, random(seed));
				if (!found) return;
				expect(found.day).toBeGreaterThanOrEqual(history.times[11]);
				expect(found.day).toBeLessThan(history.times[25]);
				const known = history.times.filter((time) => time <= found.day).length;
				// The birth, and the events from number 11 on.
				expect(knownAt(source, found.day)).toBe(1 + known - 11);
			}),
			{ seed: 1 },
		);
	});

	// The visit of day 1700 is cut: its first record is the last of the first part.
	const parts = [
		[1, 12],
		[12, 25],
		[25, 41],
	] as const;
	/** The weights of a part's landmarks, on average over draws. */
	const total = (
		weight: "codeWeight" | "visitWeight",
		draw: typeof drawDay,
		[from, to]: readonly [number, number],
	) => {
		const [landmarks, draws] = [40, 4000];
		let sum = 0;
		for (let seed = 0; seed < draws; seed++)
			sum += draw(settings, { history, from, to }, landmarks, random(seed))?.[weight] ?? 0;
		return (landmarks * sum) / draws;
	};

	test("weighs by the time it stands for, as a day or as the visit after a gap", () => {
		for (const [i, part] of parts.entries()) {
			// Observed from day 1000 to 6000; the second part begins on day 1700, the third on day 2400.
			const time = total("codeWeight", drawDay, part) * settings.daysPerLandmark;
			expect(time / [700, 700, 3600][i]).toBeCloseTo(1, 2);
			// Visits are 100 days apart; the first of all weighs as one after a year.
			const visits = total("codeWeight", drawVisit, part) * settings.daysPerLandmark;
			expect(visits / [365 + 400, 700, 800][i]).toBeCloseTo(1, 1);
		}
	});

	test("weighs for the next visit as one visit, however many the row has", () => {
		for (const [i, part] of parts.entries()) {
			const visits = total("visitWeight", drawVisit, part) * settings.slotsPerLandmark;
			expect(visits / [5, 7, 8][i]).toBeCloseTo(1, 1);
		}
	});

	test("of a population with known rates gives the rates of death and of visits", () => {
		const rates = { visit: 1 / 40, death: 1 / 2000 };
		const people = Array.from({ length: 1500 }, (_, person) => {
			const draw = random(7).fork(person);
			const after = (rate: number) => Math.ceil(-Math.log(1 - draw.uniform()) / rate);
			const death = 1000 + after(rates.death);
			const events: [number, number][] = [];
			const end = Math.min(death, 6000);
			for (let day = 1000 + after(rates.visit); day <= end; day += after(rates.visit))
				events.push([day, 5]);
			return historyWith(events, { death: death <= 6000 ? death : null });
		});
		const { death } = outputsOf(settings, 6);
		const sums = { ofCodes: [0, 0], beforeVisit: [0, 0], unweighted: [0, 0], visits: [0, 0] };
		const add = (sum: number[], weight: number, risk: number) => {
			sum[0] += weight * Number(risk < 0);
			sum[1] += weight * Math.abs(risk);
		};
		for (const [person, own] of people.entries())
			for (let from = 1; from < own.tokens.length; from += 16) {
				const source = { history: own, from, to: Math.min(from + 16, own.tokens.length) };
				const draw = random(8).fork(person).fork(from);
				const { outcomes, observe, follow } = landmarkValues(settings, 6, 4);
				for (let at = 0; at < 4; at++) {
					const drawn = drawLandmark(settings, source, 4, draw);
					if (!drawn) continue;
					observe(at, own, drawn.day);
					follow(at, own, drawn.day, drawn);
					const deathRisk = outcomes.risk[at * (death + 1) + death];
					add(sums.ofCodes, drawn.codeWeight, deathRisk);
					add(sums.unweighted, 1, deathRisk);
					add(sums.beforeVisit, drawn.visitWeight, outcomes.visitDeathRisk[at]);
					add(sums.visits, drawn.visitWeight, outcomes.visitRisk[at]);
				}
			}
		const rate = ([events, days]: readonly number[]) => events / days;
		expect(rate(sums.ofCodes) / rates.death).toBeCloseTo(1, 1);
		expect(rate(sums.beforeVisit) / rates.death).toBeCloseTo(1, 1);
		expect(rate(sums.visits) / rates.visit).toBeCloseTo(1, 1);
		expect(rate(sums.unweighted) / rates.death).toBeGreaterThan(1.1);
	});

	test("falls on every observed day alike", () => {
		const own = {
			...history,
			observed: [
				{ start: 0, end: 1000 },
				{ start: 2000, end: 5000 },
			],
		};
		const days = Array.from(
			{ length: 4000 },
			(_, seed) => drawDay(settings, wholeRow(own), 1, random(seed))?.day as number,
		);
		const first = days.filter((day) => day <= 1000).length / days.length;
		expect(first).toBeCloseTo(1000 / 4000, 1);
	});

	test("counts no onset where no period is as long as the look-back", () => {
		const own = { ...history, observed: [{ start: 1200, end: 1400 }] };
		expect(drawDay(settings, wholeRow(own), 1, random(1))?.onset).toBe(false);
	});

	test("is not drawn where the patient is never observed", () => {
		const own = { ...history, observed: [] };
		expect(drawDay(settings, wholeRow(own), 1, random(1))).toBeUndefined();
	});
});
