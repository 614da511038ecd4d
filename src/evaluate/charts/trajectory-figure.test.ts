import { describe, expect, test } from "vitest";
import { drawn } from "./testing/drawn.js";
import { type DiseaseTrajectory, trajectoryFigure } from "./trajectory-figure.js";

const year = 365.25;
const clock = { axis: "dates", birth: 0 } as const;
const event = (age: number, code: string, category: string | null) => ({
	time: age * year,
	code,
	name: `name of ${code}`,
	category,
});

const trajectory = {
	patient: "p7",
	clock,
	lookUp: [
		event(50, "401", "circulatory"),
		event(52, "272", "metabolic"),
		event(52, "278", "metabolic"),
	],
	forecast: [
		{ ...event(55, "250", "metabolic"), matched: true },
		{ ...event(56, "401", "circulatory"), matched: true },
		{ ...event(57, "366", null), matched: false },
	],
	targets: ["250"],
	top: 10,
	death: null,
};

describe("a disease trajectory", () => {
	test("by category", async () => {
		const figure = trajectoryFigure(trajectory);
		await expect(drawn(figure)).toMatchFileSnapshot("testing/trajectory.svg");
	});

	test("names the first record of the disease, and death", () => {
		const figure = trajectoryFigure({ ...trajectory, death: 57.5 * year });
		expect(figure.subtitle).toContain("dashed: name of 250 first recorded, age 55.0");
		expect(figure.subtitle).toContain("died at age 57.5");
	});

	test("without a birth", () => {
		const svg = drawn(trajectoryFigure({ ...trajectory, clock: { axis: "dates" }, top: 5 }));
		expect(svg).toContain("2020-01 to 2027-01");
		expect(svg).toContain("recall@5");
	});

	test("of one event, of no look-up events, and of no events", () => {
		const of = (lookUp: DiseaseTrajectory["lookUp"], forecast: DiseaseTrajectory["forecast"]) =>
			drawn(trajectoryFigure({ ...trajectory, targets: [], lookUp, forecast }));
		expect(of(trajectory.lookUp.slice(0, 1), [])).toContain(">shaded: the look-up window<");
		expect(of([], trajectory.forecast)).toContain("recall@10 67 %");
		expect(of([], [])).toContain("no events");
	});
});
