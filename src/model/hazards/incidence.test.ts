import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { random } from "../../base/random.js";
import { competingIncidences, cumulativeIncidence } from "./incidence.js";
import { binsOf, hazardSettings, outputsOf } from "./settings.js";

const vocab = 6;
const settings = hazardSettings.parse({ binDays: [10, 100, 1000] });
const { count, death } = outputsOf(settings, vocab);

const hazards = (rate: (bin: number, output: number) => number) =>
	Float32Array.from({ length: 3 * count }, (_, at) =>
		Math.log(rate(Math.floor(at / count), at % count)),
	);

describe("cumulative incidence", () => {
	test("of constant hazards has a closed form", () => {
		const [own, dying, days] = [2e-3, 5e-4, 400];
		const found = cumulativeIncidence(
			settings,
			vocab,
			hazards((_, output) => (output === death ? dying : own)),
			days,
		);
		const all = own + dying;
		expect(found[5]).toBeCloseTo((own / all) * (1 - Math.exp(-all * days)), 6);
		expect(found[death]).toBeCloseTo(1 - Math.exp(-dying * days), 6);
	});

	test("equals what happens, day by day", () => {
		fc.assert(
			fc.property(fc.nat(1e6), fc.integer({ min: 1, max: 1000 }), (seed, days) => {
				const draw = random(seed);
				const logs = Float32Array.from({ length: 3 * count }, () => -9 + 5 * draw.uniform());
				const found = cumulativeIncidence(settings, vocab, logs, days);
				let [left, reached] = [1, 0];
				const steps = 20;
				for (let i = 0; i < days * steps; i++) {
					const bin = settings.binDays.findIndex((end) => i / steps < end);
					const own = Math.exp(logs[bin * count + 5]) / steps;
					const dying = Math.exp(logs[bin * count + death]) / steps;
					reached += left * own;
					left *= 1 - own - dying;
				}
				expect(found[5]).toBeCloseTo(reached, 3);
			}),
			{ numRuns: 20, seed: 1 },
		);
	});

	test("grows with time and stays below one", () => {
		const logs = hazards((bin, output) => 1e-3 * (1 + bin + output));
		const at = (days: number) => cumulativeIncidence(settings, vocab, logs, days)[5];
		expect(at(0)).toBe(0);
		expect(at(50)).toBeGreaterThan(at(20));
		expect(at(1000)).toBeLessThan(1);
	});

	test("within several horizons is that within each, to the bit", () => {
		const draw = random(3);
		const logs = Float32Array.from({ length: 3 * count }, () => -9 + 5 * draw.uniform());
		const days = [1000, 0, 3.5, 10, 11, 100, 400, 1000, 5];
		const found = competingIncidences(binsOf(settings), { count, death }, logs, days);
		expect(found).toEqual(days.map((own) => cumulativeIncidence(settings, vocab, logs, own)));
	});
});
