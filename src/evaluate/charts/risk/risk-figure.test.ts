import { describe, expect, test } from "vitest";
import { drawn } from "../testing/drawn.js";
import type { NamedSurge, RiskCurve } from "./picture.js";
import { linesOf, riskAt } from "./picture.js";
import { riskFigure } from "./risk-figure.js";

const year = 365.25;
const clock = { axis: "dates", birth: 0 } as const;
const horizonDays = 5 * year;
const [first, now] = [45 * year, 60 * year];

function curve(
	code: string,
	name: string,
	risk: readonly number[],
	surges: readonly NamedSurge[] = [],
) {
	const times = Float64Array.from(risk, (_, at) => (40 + at * 5) * year);
	return {
		code,
		name,
		times,
		risk: Float64Array.from(risk),
		growth: Float64Array.from(risk, (value, at) => (at === 0 ? 0 : value - risk[at - 1])),
		places: Array.from(times, (time) =>
			time < first ? "before" : time <= now ? "inside" : "after",
		),
		recorded: new Uint8Array(risk.length),
		surges,
	} satisfies RiskCurve;
}

const surge = (from: number, growth: number, phenotypes: readonly string[]): NamedSurge => ({
	from: from * year,
	to: (from + 5) * year,
	growth,
	events: [],
	phenotypes,
});

const diabetes = curve(
	"250",
	"Diabetes mellitus",
	[0.01, 0.02, 0.05, 0.15, 0.16, 0.17, 0.18],
	[surge(50, 0.1, ["Obesity", "Hypertension"])],
);
const events = [45, 47, 52, 60].map((age) => age * year);
const base = { patient: "p7", clock, horizonDays, events: [], now, death: null };

describe("a risk trajectory", () => {
	test("with the events recorded where the risk rose", async () => {
		const svg = drawn(riskFigure({ ...base, curves: [diabetes], events }));
		await expect(svg).toMatchFileSnapshot("../testing/risk.svg");
	});

	test("moves texts without room to notes, and compares with an edited history", async () => {
		const many = ["Obesity", "Hypertension", "Gout", "Asthma", "Obesity"];
		const heart = curve(
			"428",
			"Congestive heart failure; nonhypertensive, with a long name",
			[0, 0.01, 0.01, 0.02, 0.08, 0.08, 0.08],
			[surge(55, 0.06, many), surge(45, 0.004, [])],
		);
		const halved = { ...diabetes, risk: diabetes.risk.map((r) => r / 2) };
		const svg = drawn(
			riskFigure({
				...base,
				curves: [diabetes, heart],
				whatIf: { name: "without obesity", curves: [halved] },
				events,
			}),
		);
		await expect(svg).toMatchFileSnapshot("../testing/risk-compared.svg");
	});

	test("numbers the largest surges, in order of time", () => {
		const surges = Array.from({ length: 20 }, (_, at) =>
			surge(45 + at / 4, (at + 1) / 1000, ["Gout"]),
		);
		const figure = riskFigure({ ...base, curves: [{ ...diabetes, surges }] });
		expect(figure.notes).toEqual(["The 12 greatest rises are numbered; 8 are not."]);
		const svg = drawn(figure);
		expect(svg).toContain(">12</text>");
		expect(svg).not.toContain(">13</text>");
	});

	test("of many diseases has one line per disease", () => {
		const curves = Array.from({ length: 14 }, (_, at) => ({
			...diabetes,
			code: `${at}`,
			name: `d${at}`,
		}));
		const svg = drawn(riskFigure({ ...base, curves }));
		expect(svg.match(/>d\d+<\/text>/g)).toHaveLength(28); // at the line and over its growth
	});

	test("of no events, of one time, of a risk of 0, and of no disease", () => {
		const bare = { ...base, clock: { axis: "days" } as const };
		drawn(riskFigure({ ...bare, curves: [diabetes] }), "up to day 21,915");
		drawn(riskFigure({ ...bare, curves: [curve("1", "", [0.2])] }), "20 % at");
		drawn(riskFigure({ ...bare, curves: [curve("1", "x", [0, 0, 0])] }), "no significant rise");
		drawn(riskFigure({ ...bare, curves: [] }), "No risk to draw");
	});
});

describe("a risk trajectory", () => {
	test("of a code that is recorded has a panel and a scale for further records", () => {
		const recorded = Uint8Array.of(0, 0, 0, 1, 1, 1, 1);
		const figure = riskFigure({
			...base,
			events,
			curves: [{ ...diabetes, surges: [], recorded, recordedAt: 54 * year }],
		});
		expect(figure.description).toContain(
			"Diabetes mellitus is recorded: from then on, of another record.",
		);
		expect(figure.rows.flat().map(({ title }) => title)).toEqual([
			"First record",
			"Another record",
			"Growth",
		]);
		drawn(
			figure,
			">probability of a first record within 5 years; dashed without new records<",
			">probability of another record within 5 years; dashed without new records<",
			">first recorded, age 54.0<",
			">5.0 % at age 50.0<",
			">18 % at age 70.0<",
		);
	});

	test("marks death, or names it where it is later", () => {
		const died = (age: number) =>
			drawn(riskFigure({ ...base, curves: [diabetes], death: age * year }));
		expect(died(70.5)).toContain(">died, age 70.5</text>");
		expect(died(80)).toContain("died at age 80.0");
		expect(died(80)).not.toContain(">died, age");
	});
});

test("a risk between two times is interpolated", () => {
	const [line] = linesOf({ ...base, curves: [diabetes] });
	expect(riskAt(line!, 52.5 * year)).toBeCloseTo(0.1, 12);
	expect(riskAt(line!, 0)).toBe(0.01);
	expect(riskAt(line!, 999 * year)).toBe(0.18);
});
