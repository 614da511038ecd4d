import { beforeAll, describe, expect, test } from "vitest";
import { checkOracle } from "./check.js";
import { report, scale } from "./testing/population.js";

describe("the oracle on its own population", () => {
	let check: ReturnType<typeof checkOracle>;
	beforeAll(() => {
		check = checkOracle({
			population: 42,
			patients: Math.round(700 * scale),
			samples: 20,
			seed: 5,
		});
		const nats = Object.fromEntries(check.nats.map(({ name, nats }) => [name, nats]));
		report("nats a record", { targets: check.targets, ...nats });
		report("one-year risks", { ...check.calibration });
	});

	test("beats the frequency baselines by one nat and every corrupted history by 0.4", () => {
		const more = (name: string) =>
			check.nats.find((entry) => entry.name === name)!.nats - check.nats[0]!.nats;
		expect(check.nats[0]?.name).toBe("reference model");
		expect(more("own counts")).toBeGreaterThan(1);
		expect(more("everyone's counts")).toBeGreaterThan(1);
		expect(more("reference model, gaps shuffled")).toBeGreaterThan(0.4);
		expect(more("reference model, codes shuffled")).toBeGreaterThan(0.4);
		expect(more("reference model, history of another")).toBeGreaterThan(0.4);
	});

	test("has calibrated risks: about 95 % of the cells lie within their 95 % interval", () => {
		const { cells, within95, within99, ratio } = check.calibration;
		expect(cells).toBeGreaterThan(20);
		expect(within95).toBeGreaterThanOrEqual(0.95 - 2 * Math.sqrt((0.95 * 0.05) / cells));
		expect(within99).toBeGreaterThanOrEqual(0.97);
		expect(ratio).toBeGreaterThan(0.9);
		expect(ratio).toBeLessThan(1.1);
	});
});
