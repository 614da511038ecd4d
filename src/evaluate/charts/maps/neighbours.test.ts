import { expect, test } from "vitest";
import { neighbourAgreement } from "./neighbours.js";

/** Directions at these degrees. */
const at = (...degrees: number[]) =>
	degrees.flatMap((degree) => [
		Math.cos((degree * Math.PI) / 180),
		Math.sin((degree * Math.PI) / 180),
	]);

test("compares the share of neighbours of the same kind with chance", () => {
	const vectors = at(0, 1, 2, 90, 91, 93);
	const kinds = ["a", "a", "a", "b", "b", "b"];
	expect(neighbourAgreement(vectors, 2, kinds, 2)).toEqual({
		neighbours: 2,
		share: 1,
		byChance: 0.4,
	});
	const mixed = ["a", "b", "a", "b", "a", "b"];
	expect(neighbourAgreement(vectors, 2, mixed, 2)?.share).toBeCloseTo(4 / 12, 12);
});

test("ignores vectors without a kind, and is undefined for too few or for one kind", () => {
	const vectors = at(0, 45, 1, 90, 91);
	const kinds = ["a", null, "a", "b", "b"];
	expect(neighbourAgreement(vectors, 2, kinds, 1)).toMatchObject({ share: 1, byChance: 4 / 12 });
	expect(neighbourAgreement(vectors, 2, kinds, 4)).toBeUndefined();
	expect(neighbourAgreement(vectors, 2, ["a", null, "a", "a", "a"], 1)).toBeUndefined();
});
