import { expect, test } from "vitest";
import type { Feeds } from "../runtime/index.js";
import { nodeRuntime } from "../runtime/node.js";
import {
	add,
	exp,
	floor,
	gradients,
	inOrder,
	input,
	matmul,
	max,
	mul,
	sum,
	type Tensor,
	tanh,
	toOnnx,
	topK,
} from "./index.js";

async function evaluate(outputs: Readonly<Record<string, Tensor>>, feeds: Feeds) {
	const program = await nodeRuntime({ threads: 1 }).compile({ outputs });
	const results = await program.run(feeds);
	await program.dispose();
	return Object.fromEntries(Object.entries(results).map(([name, data]) => [name, [...data]]));
}

const x = input("x", [3], "float64");
const feeds = { x: Float64Array.of(1, 2, 2) };

test("tensors that the loss does not depend on get zeros", async () => {
	const unused = input("unused", [2, 2], "float64");
	const [dx, none] = gradients(sum(floor(x)), [x, unused]) as [Tensor, Tensor];
	expect(await evaluate({ dx, none }, feeds)).toEqual({ dx: [0, 0, 0], none: [0, 0, 0, 0] });
});

test("of an intermediate tensor, and of the loss itself", async () => {
	const middle = mul(x, x);
	const loss = sum(mul(middle, 3));
	const [dMiddle, dLoss] = gradients(loss, [middle, loss]) as [Tensor, Tensor];
	expect(await evaluate({ dMiddle, dLoss }, {})).toEqual({ dMiddle: [3, 3, 3], dLoss: [1] });
});

test("a tensor used several times adds up its cotangents", async () => {
	const loss = sum(add(mul(x, x), mul(add(x, x), 5)));
	const [dx] = gradients(loss, [x]) as [Tensor];
	expect(await evaluate({ dx }, feeds)).toEqual({ dx: [12, 14, 14] });
});

test("a matrix used at every position of a recurrence gets its gradient from one product", async () => {
	const w = input("w", [4, 4], "float64");
	const start = input("start", [1, 4], "float64");
	let y = start;
	for (let place = 0; place < 6; place++) y = tanh(matmul(y, w, { transposeB: true }));
	const loss = sum(mul(y, y));
	const [dw] = gradients(loss, [w]) as [Tensor];
	const products = inOrder([dw]).filter(({ operation }) => operation.name === "matmul");
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
	const [shared] = gradients(max(x), [x]) as [Tensor];
	const [chosen] = gradients(sum(topK(x, 1).values), [x]) as [Tensor];
	expect(await evaluate({ shared, chosen }, feeds)).toEqual({
		shared: [0, 0.5, 0.5],
		chosen: [0, 1, 0],
	});
});

test("graphs thousands of operations deep neither overflow the stack nor take long", () => {
	let y = x;
	for (let i = 0; i < 20_000; i++) y = tanh(y);
	const [dx] = gradients(sum(y), [x]) as [Tensor];
	expect(inOrder([dx]).length).toBeGreaterThan(60_000);
});

test("equal nodes and constants are written once", () => {
	const twice = toOnnx({ outputs: { y: add(mul(exp(x), 2), mul(exp(x), 2)) } });
	const once = toOnnx({ outputs: { y: ((t) => add(t, t))(mul(exp(x), 2)) } });
	expect(twice.bytes).toEqual(once.bytes);
});
