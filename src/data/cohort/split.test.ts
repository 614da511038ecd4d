import { expect, test } from "vitest";
import { splitOf } from "./split.js";

const ids = Array.from({ length: 20_000 }, (_, i) => `patient-${i}`);

function parts(of: readonly string[]): number[] {
	return ["train", "valid", "test"].map((name) => of.filter((s) => s === name).length / of.length);
}

test("assigns 80, 10 and 10 % of the patients", () => {
	const [train, valid, held] = parts(ids.map((id) => splitOf(id, 0))) as [number, number, number];
	expect(Math.abs(train - 0.8)).toBeLessThan(0.01);
	expect(Math.abs(valid - 0.1)).toBeLessThan(0.01);
	expect(Math.abs(held - 0.1)).toBeLessThan(0.01);
});

test("depends on id and seed only", () => {
	expect(["1", "2", "3", "p000001", "é"].map((id) => splitOf(id, 0))).toEqual(
		["1", "2", "3", "p000001", "é"].map((id) => splitOf(id, 0)),
	);
	const validThen = ids.filter((id) => splitOf(id, 0) === "valid");
	const [train, valid] = parts(validThen.map((id) => splitOf(id, 1))) as [number, number];
	expect(Math.abs(train - 0.8)).toBeLessThan(0.03); // another seed knows nothing of this one
	expect(Math.abs(valid - 0.1)).toBeLessThan(0.03);
});

test("takes other percentages, and a larger training part contains the smaller one", () => {
	const half = ids.map((id) => splitOf(id, 0, [50, 10, 40]));
	const [train, valid, held] = parts(half) as [number, number, number];
	expect(Math.abs(train - 0.5)).toBeLessThan(0.01);
	expect(Math.abs(valid - 0.1)).toBeLessThan(0.01);
	expect(Math.abs(held - 0.4)).toBeLessThan(0.01);
	for (const [at, id] of ids.entries())
		if (half[at] === "train") expect(splitOf(id, 0)).toBe("train");
});
