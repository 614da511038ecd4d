import { expect, test } from "vitest";
import { random } from "../../../base/random.js";
import { evaluate } from "../../../engine/runtime/testing/evaluate.js";
import { input, parameter } from "../../../engine/tensor/index.js";
import { drawWeights } from "../../nn/weights.js";
import { forecast, forecastWeights } from "./forecast.js";

test("reads a window's first event and its last", async () => {
	const [rows, places, dim, ahead] = [2, 4, 3, 2];
	const weights = drawWeights(forecastWeights({ dim, ff: 5, ahead }), random(1));
	const views = forecast(
		(name) => parameter(name, weights.get(name)?.shape ?? []),
		input("encoded", [rows, places, dim]),
		input("mask", [rows, places]),
	);
	expect(views.shape).toEqual([rows, ahead, dim]);
	const draw = random(2);
	const encoded = Array.from({ length: rows * places * dim }, () => draw.normal());
	const feeds = {
		...Object.fromEntries([...weights].map(([name, { data }]) => [name, data])),
		mask: [0, 0, 1, 1, 1, 1, 1, 1],
	};
	const base = await evaluate({ views }, { ...feeds, encoded });
	const felt: boolean[][] = [[], []];
	for (let place = 0; place < places; place++) {
		const moved = encoded.map((x, i) => (Math.floor(i / dim) % places === place ? x + 1 : x));
		const { views: other } = await evaluate({ views }, { ...feeds, encoded: moved });
		for (let row = 0; row < rows; row++)
			felt[row]?.push(
				other.some(
					(x, i) =>
						Math.floor(i / (ahead * dim)) === row && Math.abs(x - (base.views[i] as number)) > 1e-6,
				),
			);
	}
	expect(felt).toEqual([
		[false, false, true, true],
		[true, false, false, true],
	]);
	expect(base.views.slice(0, dim)).not.toEqual(base.views.slice(dim, 2 * dim));
});
