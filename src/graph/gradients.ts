import { add } from "./ops/elementwise.js";
import { joinedProducts } from "./ops/matmul.js";
import { filled } from "./ops/sources.js";
import { fail, isFloat, type Node, type Tensor } from "./tensor.js";

/** The nodes that `outputs` depend on, in topological order, without the `known` ones. */
export function inOrder(
	outputs: readonly Tensor[],
	known: (tensor: Tensor) => boolean = () => false,
): Node[] {
	const order: Node[] = [];
	const seen = new Set<Node>();
	// Depth first without recursion: graphs are thousands of nodes deep.
	const stack: { node: Node; next: number }[] = [];
	for (const output of outputs) {
		const { node } = output;
		if (seen.has(node) || known(output)) continue;
		seen.add(node);
		stack.push({ node, next: 0 });
		while (stack.length > 0) {
			const top = stack[stack.length - 1] as { node: Node; next: number };
			const child = top.node.inputs[top.next++];
			if (child === undefined) {
				order.push(top.node);
				stack.pop();
			} else if (!seen.has(child.node) && !known(child)) {
				seen.add(child.node);
				stack.push({ node: child.node, next: 0 });
			}
		}
	}
	return order;
}

/**
 * The gradient of a scalar with respect to each tensor, by reverse accumulation; zeros for tensors that the scalar
 * does not depend on.
 */
export function gradients(loss: Tensor, wrt: readonly Tensor[]): Tensor[] {
	if (loss.shape.length > 0 || !isFloat(loss.dtype))
		fail("gradients", "needs a float scalar; reduce it first", [loss]);
	const order = inOrder([loss]);
	const wanted = new Set<Node>(wrt.map((x) => x.node));
	const onTheWay = new Set<Node>();
	for (const node of order) {
		if (wanted.has(node) || node.inputs.some((x) => onTheWay.has(x.node))) onTheWay.add(node);
	}
	const parts = new Map<Tensor, Tensor[]>([[loss, [filled(1, [], loss.dtype)]]]);
	const cotangentOf = (x: Tensor) => {
		const own = parts.get(x);
		return own ? joinedProducts(own).reduce((a, b) => add(a, b)) : null;
	};
	for (const node of order.reverse()) {
		if (!onTheWay.has(node) || !node.operation.pullback) continue;
		const given = node.outputs.map(cotangentOf);
		if (given.every((g) => g === null)) continue;
		node.operation.pullback(node, given).forEach((g, i) => {
			const x = node.inputs[i] as Tensor;
			if (!g || !onTheWay.has(x.node)) return;
			const own = parts.get(x);
			if (own) own.push(g);
			else parts.set(x, [g]);
		});
	}
	return wrt.map((x) => cotangentOf(x) ?? filled(0, x.shape, x.dtype));
}
