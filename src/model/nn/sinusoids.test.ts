import { expect, test } from "vitest";
import { evaluate } from "../../engine/runtime/testing/evaluate.js";
import { sinusoids } from "./sinusoids.js";

test("pairs of sine and cosine, each slower than the one before", async () => {
	const { y } = await evaluate({ y: sinusoids(3, 5, "float64") }, {});
	const angles = [1, 10000 ** -0.4, 10000 ** -0.8];
	const wanted = [0, 1, 2].flatMap((place) =>
		angles.flatMap((a) => [Math.sin(place * a), Math.cos(place * a)]).slice(0, 5),
	);
	expect(y).toEqual(wanted.map((value) => expect.closeTo(value, 12)));
});
