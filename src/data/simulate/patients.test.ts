import { describe, expect, test } from "vitest";
import { random } from "../../base/random.js";
import { yearDays } from "../../base/time.js";
import { patientNumber, type SimulatedPatient, simulatePatient } from "./patients.js";
import { insulinLogOdds } from "./prescriptions.js";
import { simulateLife } from "./simulate-life.js";
import { State } from "./state.js";
import { positionOf as at, conditions } from "./tables.js";
import {
	auroc,
	mean,
	population,
	quantile,
	report,
	scale,
	visitsOf,
} from "./testing/population.js";

const people = population(3, Math.round(1500 * scale));

const shareWith = (code: string, among: typeof people, records = 1) =>
	among.filter(({ claims }) => claims.filter((claim) => claim.at === at(code)).length >= records)
		.length / among.length;

describe("the population", () => {
	test("is the same for a seed, and a patient does not depend on the others", () => {
		expect(simulatePatient(3, 17)).toEqual(people[16]);
		expect(simulatePatient(3, 17).id).toBe("p000017");
		expect(patientNumber("p000017")).toBe(17);
		expect(simulatePatient(3, 1_234_567).id).toBe("p1234567");
		expect(patientNumber("p1234567")).toBe(1_234_567);
		for (const id of ["p17", "p000000", "q000017", "p0000017", "p0123456"])
			expect(patientNumber(id)).toBeUndefined();
		expect(simulatePatient(4, 17)).not.toEqual(people[16]);
	});

	test("has histories of a realistic length, with a plausible tail", () => {
		const records = people.map(({ claims }) => claims.length);
		const perVisit = mean(people.flatMap((p) => visitsOf(p).map((visit) => visit.records.length)));
		const atLeast50 = records.filter((n) => n >= 50).length / records.length;
		const figures = {
			patients: records.length,
			mean: mean(records),
			median: quantile(records, 0.5),
			"99th percentile": quantile(records, 0.99),
			largest: Math.max(...records),
			"share with 50": atLeast50,
			"records a visit": perVisit,
		};
		report("records a patient", figures);
		expect(figures.mean).toBeGreaterThan(85);
		expect(figures.mean).toBeLessThan(125);
		expect(figures.median).toBeGreaterThan(60);
		expect(figures.median).toBeLessThan(90);
		expect(figures["99th percentile"]).toBeLessThan(600);
		expect(atLeast50).toBeGreaterThan(0.5);
		expect(perVisit).toBeGreaterThan(1.4);
	});

	test("ages, and dies", () => {
		const ages = people.map(({ person, death }) => {
			const [from, to] = [person.coverage[0][0], person.coverage.at(-1)![1]];
			return ((from + Math.min(to, death ?? to)) / 2 - person.birth) / yearDays;
		});
		const died = people.filter(({ death }) => death !== null);
		report("people", { "mean age": mean(ages), died: died.length / people.length });
		expect(mean(ages)).toBeGreaterThan(44);
		expect(mean(ages)).toBeLessThan(52);
		expect(died.length / people.length).toBeGreaterThan(0.05);
		expect(died.length / people.length).toBeLessThan(0.2);
		for (const { claims, death } of died)
			expect(claims.at(-1)?.day ?? 0).toBeLessThanOrEqual(death!);
	});

	test("respects sex", () => {
		for (const { person, claims } of people)
			expect(claims.some((c) => conditions[c.at]!.sex?.[person.sex] === 0)).toBe(false);
	});

	test("records each condition with one of its codes", () => {
		const written = new Set(people.flatMap(({ claims }) => claims.map(({ icd9 }) => icd9)));
		expect(written.size).toBeGreaterThan(600);
		for (const code of ["25000", "25001", "25002", "V5867", "4280"])
			expect(written).toContain(code);
	});

	test("has heart failure in a few per cent, caused by its precursors", () => {
		const old = people.filter(({ person, claims }) => {
			const last = claims.at(-1)?.day ?? person.birth;
			return (last - person.birth) / yearDays > 60;
		});
		const has = (code: string) => (patient: (typeof people)[number]) =>
			patient.claims.some((claim) => claim.at === at(code));
		const precursors = ["401", "411", "427", "425", "250", "585", "394", "395"].map(has);
		const burden = (patient: (typeof people)[number]) =>
			precursors.filter((p) => p(patient)).length;
		const much = shareWith(
			"428",
			old.filter((patient) => burden(patient) >= 3),
		);
		const little = shareWith(
			"428",
			old.filter((patient) => burden(patient) <= 1),
		);
		report("heart failure", {
			"recorded, %": 100 * shareWith("428", people),
			"twice, %": 100 * shareWith("428", people, 2),
			"over 60 with three precursors, %": 100 * much,
			"over 60 with none or one, %": 100 * little,
		});
		expect(shareWith("428", people)).toBeGreaterThan(0.02);
		expect(shareWith("428", people)).toBeLessThan(0.05);
		expect(much).toBeGreaterThan(4 * little);
	});

	test("follows chronic conditions up at nearly regular gaps, and acute ones in bursts", () => {
		const spread = (code: string) => {
			const ratios = people.flatMap(({ claims }) => {
				const days = claims.filter((claim) => claim.at === at(code)).map(({ day }) => day);
				const gaps = days.slice(1).map((day, i) => day - days[i]);
				if (gaps.length < 8) return [];
				const variance = mean(gaps.map((gap) => (gap - mean(gaps)) ** 2));
				return [Math.sqrt(variance) / mean(gaps)];
			});
			return mean(ratios);
		};
		report("spread of gaps", { "250": spread("250"), "760": spread("760") });
		expect(spread("250")).toBeLessThan(0.8);
		expect(spread("760")).toBeGreaterThan(1.2);
	});
});

/** Whether insulin is started within six months of the first record of diabetes, and its log-odds at that record. */
function insulinLabels(patients: readonly SimulatedPatient[]) {
	return patients.flatMap(({ person, claims, prescriptions }) => {
		const first = claims.find((claim) => claim.at === at("250"));
		if (!first) return [];
		const { day } = first;
		const known = new Map<number, number>();
		for (const claim of claims) if (claim.day <= day) known.set(claim.at, claim.day);
		const steroids = prescriptions.filter((fill) => fill.drug === "prednisone" && fill.day <= day);
		const logOdds = insulinLogOdds({
			day,
			birth: person.birth,
			earlier: 0,
			firstDay: day,
			lastRecord: (condition) => known.get(condition) ?? -Infinity,
			lastSteroid: steroids.at(-1)?.day ?? -Infinity,
		});
		const start = prescriptions.find(({ drug }) => drug.startsWith("insulin"))?.day ?? Infinity;
		return [{ logOdds, label: start <= day + 182 }];
	});
}

describe("prescriptions", () => {
	test("are made at visits, and insulin depends on severity", () => {
		for (const { claims, prescriptions } of people.slice(0, 50)) {
			const days = new Set(claims.map(({ day }) => day));
			expect(prescriptions.every(({ day }) => days.has(day))).toBe(true);
		}
		const labels = insulinLabels(people);
		const positive = labels.filter(({ label }) => label).length / labels.length;
		const area = auroc(
			labels.map(({ logOdds }) => logOdds),
			labels.map(({ label }) => label),
		);
		report("insulin within six months", {
			diabetic: labels.length,
			"positive, %": 100 * positive,
			"AUROC of the odds at the first record": area,
			"prescriptions a patient": mean(people.map((p) => p.prescriptions.length)),
		});
		expect(positive).toBeGreaterThan(0.08);
		expect(positive).toBeLessThan(0.24);
		expect(area).toBeGreaterThan(0.75);
	});
});

test("simulated lives are independent, even when nested", () => {
	const { person } = simulatePatient(3, 17);
	const visitsOf = (between: () => void) => {
		const state = new State();
		state.begin(person);
		const visits: number[][] = [];
		const [from, until] = [person.coverage[0][0], person.coverage.at(-1)![1] + 1];
		simulateLife(state, random(1), from, until, (day, visit, length) => {
			between();
			visits.push([day, ...visit.subarray(0, length)]);
		});
		return visits;
	};
	const alone = visitsOf(() => {});
	expect(alone.length).toBeGreaterThan(5);
	let others = 0;
	expect(visitsOf(() => void simulatePatient(4, ++others))).toEqual(alone);
});
