import { expect, test } from "vitest";
import type { Feeds } from "../runtime/index.js";
import { nodeRuntime } from "../runtime/node.js";
import type { Tensor } from "./index.js";
import * as graph from "./index.js";

async function evaluate(outputs: Readonly<Record<string, Tensor>>, feeds: Feeds) {
	const program = await nodeRuntime({ threads: 1 }).compile({ outputs });
	const results = await program.run(feeds);
	await program.dispose();
	return Object.fromEntries(Object.entries(results).map(([name, data]) => [name, [...data]]));
}

const x = graph.input("x", [3], "float64");
const feeds = { x: Float64Array.of(1, 2, 2) };

test("tensors that the loss does not depend on get zeros", async () => {
	const unused = graph.input("unused", [2, 2], "float64");
	const [dx, none] = graph.gradients(x.floor().sum(), [x, unused]) as [Tensor, Tensor];
	expect(await evaluate({ dx, none }, feeds)).toEqual({ dx: [0, 0, 0], none: [0, 0, 0, 0] });
});

test("of an intermediate tensor, and of the loss itself", async () => {
	const middle = x.mul(x);
	const loss = middle.mul(3).sum();
	const [dMiddle, dLoss] = graph.gradients(loss, [middle, loss]) as [Tensor, Tensor];
	expect(await evaluate({ dMiddle, dLoss }, {})).toEqual({ dMiddle: [3, 3, 3], dLoss: [1] });
});

test("a tensor used several times adds up its cotangents", async () => {
	const loss = x.mul(x).add(x.add(x).mul(5)).sum();
	const [dx] = graph.gradients(loss, [x]) as [Tensor];
	expect(await evaluate({ dx }, feeds)).toEqual({ dx: [12, 14, 14] });
});

test("a matrix used at every position of a recurrence gets its gradient from one product", async () => {
	const w = graph.input("w", [4, 4], "float64");
	const start = graph.input("start", [1, 4], "float64");
	let y = start;
	for (let place = 0; place < 6; place++) y = y.matmul(w, { transposeB: true }).tanh();
	const loss = y.mul(y).sum();
	const [dw] = graph.gradients(loss, [w]) as [Tensor];
	const products = graph.inOrder([dw]).filter(({ operation }) => operation.name === "matmul");
	expect(products.length).toBe(6 + 5 + 1); // forward, back through the states, and to w
	const given = {
		w: Float64Array.from({ length: 16 }, (_, i) => Math.cos(3 * i)),
		start: Float64Array.of(0.5, -1, 0.2, 2),
	};
	const { slope } = (await evaluate({ slope: dw }, given)) as { slope: number[] };
	for (const i of [0, 6, 15]) {
		const at = async (step: number) => {
			const moved = given.w.map((value, j) => (i === j ? value + step : value));
			return (await evaluate({ loss }, { ...given, w: moved })).loss?.[0];
		};
		expect(slope[i]).toBeCloseTo(((await at(1e-5)) - (await at(-1e-5))) / 2e-5, 7);
	}
});

test("equal maxima share the cotangent; top-k gives it to the chosen one", async () => {
	const [shared] = graph.gradients(x.max(), [x]) as [Tensor];
	const [chosen] = graph.gradients(graph.topK(x, 1).values.sum(), [x]) as [Tensor];
	expect(await evaluate({ shared, chosen }, feeds)).toEqual({
		shared: [0, 0.5, 0.5],
		chosen: [0, 1, 0],
	});
});

test("graphs thousands of operations deep neither overflow the stack nor take long", () => {
	let y = x;
	for (let i = 0; i < 20_000; i++) y = y.tanh();
	const [dx] = graph.gradients(y.sum(), [x]) as [Tensor];
	expect(graph.inOrder([dx]).length).toBeGreaterThan(60_000);
});

test("equal nodes and constants are written once", () => {
	const twice = graph.toOnnx({ outputs: { y: x.exp().mul(2).add(x.exp().mul(2)) } });
	const once = graph.toOnnx({ outputs: { y: ((t) => t.add(t))(x.exp().mul(2)) } });
	expect(twice.bytes).toEqual(once.bytes);
});
