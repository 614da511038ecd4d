import { expect, test } from "vitest";
import { bytesOf } from "../../../src/app/commands/serve/explorer-people.js";
import type { MapPatient } from "../data/contract.js";
import { nearestSample, placeOf } from "../engine/map-place.js";
import type { RiskTable } from "../engine/risks.js";
import { riskWords } from "./chosen-code.js";
import { ageBins, frequencyBins, riskBins, riskGroup } from "./map-groups.js";

test("bins have an order, and every value a bin", () => {
	expect(ageBins.groupOf(0)).toBe("under 20");
	expect(ageBins.groupOf(79.9)).toBe("60 to 79");
	expect(ageBins.groupOf(101)).toBe("80 and over");
	expect(frequencyBins.groupOf(100)).toBe("100 to 299");
	expect(riskBins.order.at(-1)).toBe("10 % or more");
});

const table: RiskTable = {
	...{ history: { tokens: [], times: [], birthEvents: 0 }, sex: null, date: 100 },
	curve: () => Array.from({ length: 40 }, (_, at) => (at + 1) / 1000),
	recordedAt: (token) => (token === 7 ? 50 : null),
};
const risks = { table, model: { calls: {} as never, longest: 3652, rates: null } };

test("a code by the risk of a patient within five years", () => {
	expect(riskGroup(table, 6)).toBe("2 to 5 %");
	expect(riskGroup(table, 7)).toBe("recorded already");
});

test("the risk of a code in a sentence", () => {
	const words = (token: number) => riskWords(risks, token, "Sample 3", (time) => `day ${time}`);
	expect(words(6)).toBe(
		"Sample 3, on day 100: a risk of 0.40 %, 2.0 %, 4.0 % within 1, 5, 10 years.",
	);
	expect(words(7)).toBe("Sample 3, on day 100: already recorded, day 50.");
});

const person: MapPatient = { x: 0, y: 0, outcome: null, age: null, sex: null, records: 1 };

test("a patient is placed among the nearest in the model's space", () => {
	const vectors = [
		[1, 0.02, 0],
		[0.99, 0, 0.03],
		[0, 1, 0],
		[0, 0.9, 0.1],
		[0, 0, 1],
		[0.1, 0, 0.9],
	];
	const patients = vectors.map((_, at) => ({ ...person, x: at < 2 ? 10 : -10, y: at }));
	const bytes = Buffer.from(bytesOf(vectors.flat(), 3).buffer).toString("base64");
	const place = placeOf({ patients, vectors: { dim: 3, bytes } }, [5, 0.05, 0.05]);
	expect(place?.x).toBeGreaterThan(0);
	expect(placeOf({ patients, vectors: null }, [1, 0, 0])).toBeNull();
	expect(placeOf({ patients, vectors: { dim: 3, bytes } }, [1, 0])).toBeNull();
});

test("the sample most like a patient is the nearest in the model's space, not on the picture", () => {
	const vectors = [
		[1, 0, 0],
		[0, 1, 0],
		[0.1, 0.9, 0],
		[0.9, 0.1, 0],
	];
	const bytes = Buffer.from(bytesOf(vectors.flat(), 3).buffer).toString("base64");
	const patients: MapPatient[] = [
		{ ...person, sample: "s1", x: 9 },
		{ ...person, sample: "s2", x: 0 },
		{ ...person, x: 9 },
		{ ...person, x: 0 },
	];
	const maps = { patients, vectors: { dim: 3, bytes } };
	expect([2, 3, 0].map((at) => nearestSample(maps, at))).toEqual(["s2", "s1", "s2"]);
	expect(nearestSample({ ...maps, vectors: null }, 2)).toBeNull();
	expect(nearestSample({ ...maps, patients: [person] }, 0)).toBeNull();
});

test("directions in bytes keep their sign and proportions", () => {
	expect([...bytesOf([2, -1, 0, 0, 0, 0], 3)]).toEqual([127, -63, 0, 0, 0, 0]);
});
