import fc from "fast-check";
import { expect, test } from "vitest";
import { nodeRuntime } from "../runtime/node.js";
import type { Shape, Tensor } from "./index.js";
import * as graph from "./index.js";

const runtime = nodeRuntime({ threads: 1 });

async function evaluate(
	shapes: readonly Shape[],
	build: (...x: Tensor[]) => Tensor,
): Promise<number[]> {
	const inputs = shapes.map((shape, i) => graph.input(`x${i}`, shape, "float64"));
	const program = await runtime.compile({ outputs: { y: build(...inputs) } });
	const feeds = Object.fromEntries(shapes.map((shape, i) => [`x${i}`, counted(shape, i)]));
	const { y } = await program.run(feeds);
	await program.dispose();
	return [...y];
}

const counted = (shape: Shape, offset = 0): Float64Array =>
	Float64Array.from({ length: graph.size(shape) }, (_, i) => i + 1 + 100 * offset);

const shapes = fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 4 });

/** A shape, and one that broadcasts to it. */
const narrowed = fc
	.tuple(shapes, fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }), fc.nat(4))
	.map(([shape, ones, cut]) => ({
		shape,
		narrow: shape.map((n, i) => (ones[i] ? 1 : n)).slice(Math.min(cut, shape.length)),
	}));

const axisAndShape = fc
	.tuple(fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 3 }), fc.nat())
	.map(([shape, n]) => ({ shape, axis: n % shape.length }));

const runs = { numRuns: 40 };

test("broadcasting is commutative, has a neutral shape and keeps a shape with itself", () => {
	fc.assert(
		fc.property(shapes, shapes, (a, b) => {
			expect(graph.broadcastShape(a, b)).toEqual(graph.broadcastShape(b, a));
			expect(graph.broadcastShape(a, [])).toEqual(a);
			expect(graph.broadcastShape(a, a)).toEqual(a);
		}),
	);
});

test("broadcasting is associative", () => {
	fc.assert(
		fc.property(shapes, shapes, shapes, (a, b, c) => {
			const left = graph.broadcastShape(a, b);
			const right = graph.broadcastShape(b, c);
			if (!left || !right) return;
			expect(graph.broadcastShape(left, c)).toEqual(graph.broadcastShape(a, right));
		}),
	);
});

test("unbroadcast is the transpose of expand: ⟨expand x, y⟩ = ⟨x, unbroadcast y⟩", async () => {
	await fc.assert(
		fc.asyncProperty(narrowed, async ({ shape, narrow }) => {
			const dot = (a: ArrayLike<number>, b: ArrayLike<number>) =>
				Array.from(a).reduce((sum, x, i) => sum + x * b[i], 0);
			const wide = await evaluate([narrow], (x) => x.expand(shape));
			const back = await evaluate([shape], (y) => y.unbroadcast(narrow));
			expect(dot(wide, counted(shape))).toBeCloseTo(dot(counted(narrow), back), 6);
		}),
		runs,
	);
});

test("adding with broadcasting equals expanding first", async () => {
	await fc.assert(
		fc.asyncProperty(narrowed, async ({ shape, narrow }) => {
			const plain = await evaluate([shape, narrow], (a, b) => a.add(b));
			const first = await evaluate([shape, narrow], (a, b) => a.add(b.expand(shape)));
			expect(plain).toEqual(first);
		}),
		runs,
	);
});

test("slicing undoes padding", async () => {
	await fc.assert(
		fc.asyncProperty(axisAndShape, fc.nat(3), fc.nat(3), async ({ shape, axis }, before, after) => {
			const n = shape[axis];
			const back = await evaluate([shape], (x) =>
				x.pad(axis, before, after).slice(axis, before, before + n),
			);
			expect(back).toEqual([...counted(shape)]);
		}),
		runs,
	);
});

test("the parts of a split, and the slices at a cut, join to the whole", async () => {
	await fc.assert(
		fc.asyncProperty(axisAndShape, fc.nat(), async ({ shape, axis }, n) => {
			const length = shape[axis];
			if (length < 2) return;
			const cut = 1 + (n % (length - 1));
			const whole = [...counted(shape)];
			const joined = (parts: (x: Tensor) => readonly Tensor[]) =>
				evaluate([shape], (x) => graph.concat(parts(x), axis));
			expect(await joined((x) => x.split(axis, [cut, length - cut]))).toEqual(whole);
			expect(await joined((x) => [x.slice(axis, 0, cut), x.slice(axis, cut)])).toEqual(whole);
		}),
		runs,
	);
});

test("rolling one way and back changes nothing", async () => {
	await fc.assert(
		fc.asyncProperty(axisAndShape, fc.integer({ min: -9, max: 9 }), async ({ shape, axis }, by) => {
			const back = await evaluate([shape], (x) => x.roll(axis, by).roll(axis, -by));
			expect(back).toEqual([...counted(shape)]);
		}),
		runs,
	);
});
