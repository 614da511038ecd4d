import { expect, test } from "vitest";
import { random } from "../../base/random.js";
import { evaluate, relativeError } from "../../engine/runtime/testing/evaluate.js";
import { input } from "../../engine/tensor/index.js";
import {
	at,
	type Matrix,
	matrix,
	plainGelu,
	plainNorm,
	plainWeights,
	plus,
	product,
	range,
} from "../nn/testing/plain.js";
import { type PlainRetention, plainRetention } from "../nn/testing/plain-retention.js";
import { conformance } from "../testing/conformance.js";
import { alternating, alternatingWeights, forecast, forecastWeights } from "./bitimelygpt.js";

const settings = { layers: 4, heads: 2, dim: 8, ff: 6, decayUnitDays: 30 };
const { dim, heads, decayUnitDays } = settings;
const days = [0, 0, 0, 0, 90, 91, 800, 9000];
const mask = [0, 0, 1, 1, 1, 1, 1, 1];
const gaps = days.map((day, n) => (n > 2 ? day - days[n - 1] : 0));
const places = days.length;

const { p, values, rows } = plainWeights(alternatingWeights(settings), {
	noise: 0,
	dtype: "float64",
});
const draw = random(4);
const vectors = range(places, (n) => range(dim, () => (mask[n] ? draw.normal() : 0)));

async function viewed(layers: number, x: Matrix): Promise<{ forwards: Matrix; backwards: Matrix }> {
	const row = (name: string) => input(name, [1, places], "float64");
	const views = alternating({ ...settings, layers }, p, input("x", [1, places, dim], "float64"), {
		days: row("days"),
		gaps: row("gaps"),
		mask: row("mask"),
	});
	const got = await evaluate(views, { ...values, x: x.flat(), days, gaps, mask });
	return { forwards: matrix(got.forwards, dim), backwards: matrix(got.backwards, dim) };
}

const added = (x: Matrix, y: Matrix): Matrix => x.map((row, n) => plus(row, y[n]));

/** The views after each layer, [EOS] included, with nothing ever flipped. */
function reference(): Matrix[] {
	let x: Matrix = [...vectors, values.end];
	return range(settings.layers, (i) => {
		const weight = (name: string) => rows(`layers.${i}.${name}.weight`);
		const parts = ["query", "key", "value", "gate", "out"] as const;
		const retained = plainRetention({
			x: x.map(plainNorm),
			days: [...days, 9000],
			mask: [...mask, 1],
			weights: Object.fromEntries(
				parts.map((part) => [part, weight(`retention.${part}`)]),
			) as PlainRetention["weights"],
			...{ heads, decayUnitDays, direction: i % 2 === 0 ? "forwards" : "backwards" },
		});
		x = added(x, retained);
		const inside = product(x.map(plainNorm), weight("feedForward.up"));
		const active = inside.map((row) => row.map(plainGelu));
		x = added(x, product(active, weight("feedForward.down")));
		return x;
	});
}

test("layers read forwards and backwards in turn: flipping is a sum over what comes after", async () => {
	const after = reference();
	const views = (x: Matrix | undefined) => (x as Matrix).slice(2, places).flatMap(plainNorm);
	const got = await viewed(4, vectors);
	expect(relativeError(got.forwards.slice(2).flat(), views(after[2]))).toBeLessThan(1e-6);
	expect(relativeError(got.backwards.slice(2).flat(), views(after[3]))).toBeLessThan(1e-6);
});

test("the first layer knows what came before, the second also what comes after", async () => {
	const moved = vectors.map((row, n) => (n === 5 ? row.map((value) => value ** 2) : row));
	const [one, two] = [await viewed(2, vectors), await viewed(2, moved)];
	const felt = (way: "forwards" | "backwards") =>
		range(places, (n) => range(dim, (j) => Math.abs(at(one[way], n, j) - at(two[way], n, j))))
			.map((row) => Math.max(...row) > 1e-9)
			.slice(2);
	expect(felt("forwards")).toEqual([false, false, false, true, true, true]);
	expect(felt("backwards")).toEqual([true, true, true, true, true, true]);
});

test("padding changes nothing", async () => {
	const other = vectors.map((row, n) => (mask[n] ? row : row.map(() => 3)));
	const [one, two] = [await viewed(4, vectors), await viewed(4, other)];
	for (const way of ["forwards", "backwards"] as const)
		expect(two[way].slice(2)).toEqual(one[way].slice(2));
});

conformance("bitimelygpt");

test("reads a window's first event and its last", async () => {
	const [rows, places, dim, ahead] = [2, 4, 3, 2];
	const { p, values } = plainWeights(forecastWeights({ dim, ff: 5, ahead }));
	const views = forecast(p, input("encoded", [rows, places, dim]), input("mask", [rows, places]));
	expect(views.shape).toEqual([rows, ahead, dim]);
	const draw = random(2);
	const encoded = Array.from({ length: rows * places * dim }, () => draw.normal());
	const feeds = {
		...values,
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
					(x, i) => Math.floor(i / (ahead * dim)) === row && Math.abs(x - base.views[i]) > 1e-6,
				),
			);
	}
	expect(felt).toEqual([
		[false, false, true, true],
		[true, false, false, true],
	]);
	expect(base.views.slice(0, dim)).not.toEqual(base.views.slice(dim, 2 * dim));
});
