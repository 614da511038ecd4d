import { expect, test } from "vitest";
import { gaussLegendre } from "./quadrature.js";

test("n points integrate x^k from 0 to 1 exactly up to k = 2n − 1, and no further", () => {
	for (let n = 1; n <= 8; n++) {
		const { points, weights } = gaussLegendre(n);
		const integral = (k: number) => points.reduce((sum, x, i) => sum + weights[i]! * x ** k, 0);
		for (let k = 0; k < 2 * n; k++) expect(integral(k)).toBeCloseTo(1 / (k + 1), 13);
		expect(Math.abs(integral(2 * n) - 1 / (2 * n + 1))).toBeGreaterThan(1e-10);
	}
});
