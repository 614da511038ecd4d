import { describe, expect, test } from "vitest";
import { drawn } from "./testing/drawn.js";
import { trajectoryFigure } from "./trajectory-figure.js";

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
};

describe("a disease trajectory", () => {
	test("by category", async () => {
		const figure = trajectoryFigure(trajectory);
		const svg = drawn(figure);
		await expect(svg).toMatchFileSnapshot("testing/trajectory.svg");
		expect(figure.description).toBe(
			"Disease trajectory of p7, age 50.0–57.0: the model saw 3 events. 2 of 3 later events were among the 10 likeliest codes at their time, a recall of 67 %.",
		);
		for (const words of [
			"look-up window: 3 events",
			"forecast window: 3 events, recall@10 67 %",
			"larger: name of 250",
			"no category",
		])
			expect(svg).toContain(`>${words}</text>`);
	});

	test("names the first record of the disease, and death", () => {
		const figure = trajectoryFigure({ ...trajectory, death: 57.5 * year });
		expect(figure.subtitle).toContain("dashed: name of 250 first recorded, age 55.0");
		expect(figure.subtitle).toContain("died at age 57.5");
	});

	test("by code, without a patient's name or a birth", () => {
		const figure = trajectoryFigure({
			...trajectory,
			clock: { axis: "dates" },
			rows: "code",
			top: 5,
		});
		const svg = drawn(figure);
		expect(svg).toContain(">name of 366</text>");
		expect(svg).toContain("2020-01 to 2027-01");
		expect(svg).toContain("recall@5");
	});

	test("stacks events of the same time", () => {
		const at = { ...trajectory, lookUp: [event(50, "a", "c"), event(50, "b", "c")], forecast: [] };
		const heights = trajectoryFigure(at).rows[0]?.[0]?.height as number;
		const apart = { ...at, lookUp: [event(50, "a", "c"), event(60, "b", "c")] };
		expect(heights).toBeGreaterThan(trajectoryFigure(apart).rows[0]?.[0]?.height as number);
	});

	test("of one event, of no look-up events, and of no events", () => {
		const { lookUp, forecast } = trajectory;
		expect(drawn(trajectoryFigure({ clock, lookUp: lookUp.slice(0, 1), forecast: [] }))).toContain(
			"look-up window: 1 event<",
		);
		expect(drawn(trajectoryFigure({ clock, lookUp: [], forecast }))).toContain("recall@10 67 %");
		expect(drawn(trajectoryFigure({ clock, lookUp: [], forecast: [] }))).toContain("no events");
	});
});
