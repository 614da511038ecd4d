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
			const top = stack[stack.length - 1];
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
 * The terms of which the cotangents of tensors are sums, from those of some tensors, by reverse accumulation. It goes
 * no further back than the `known` tensors.
 */
export function cotangentTerms(
	given: readonly (readonly [of: Tensor, cotangent: Tensor])[],
	wrt: readonly Tensor[],
	known: (tensor: Tensor) => boolean = () => false,
): (of: Tensor) => readonly Tensor[] {
	const order = inOrder(
		given.map(([of]) => of),
		known,
	);
	const onTheWay = new Set<Node>(wrt.map((x) => x.node));
	for (const node of order) {
		if (node.inputs.some((x) => onTheWay.has(x.node))) onTheWay.add(node);
	}
	const terms = new Map<Tensor, Tensor[]>();
	const give = (x: Tensor, g: Tensor) => {
		const cotangents = terms.get(x);
		if (cotangents) cotangents.push(g);
		else terms.set(x, [g]);
	};
	for (const [of, cotangent] of given) give(of, cotangent);
	for (const node of order.reverse()) {
		if (!onTheWay.has(node) || !node.operation.pullback) continue;
		const cotangents = node.outputs.map((y) => summed(terms.get(y) ?? []));
		if (cotangents.every((g) => g === null)) continue;
		node.operation.pullback(node, cotangents[0] as Tensor, cotangents).forEach((g, i) => {
			const x = node.inputs[i];
			if (g && onTheWay.has(x.node)) give(x, g);
		});
	}
	return (of) => terms.get(of) ?? [];
}

/** A sum of terms; null if there are none. */
export const summed = (terms: readonly Tensor[]): Tensor | null =>
	terms.length === 0 ? null : joinedProducts(terms).reduce((a, b) => a.add(b));

/**
 * The gradient of a scalar with respect to each tensor; zeros for tensors that the scalar does not depend on.
 */
export function gradients(loss: Tensor, wrt: readonly Tensor[]): Tensor[] {
	if (loss.shape.length > 0 || !isFloat(loss.dtype))
		fail("gradients", "needs a float scalar; reduce it first", [loss]);
	const terms = cotangentTerms([[loss, filled(1, [], loss.dtype)]], wrt);
	return wrt.map((x) => summed(terms(x)) ?? filled(0, x.shape, x.dtype));
}
