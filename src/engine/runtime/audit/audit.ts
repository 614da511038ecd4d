import { random } from "../../../base/random.js";
import {
	constant,
	type FixedShape,
	gradients,
	input,
	mul,
	size,
	sum,
	type Tensor,
} from "../../tensor/index.js";
import type { Data, Program, Runtime } from "../runtime.js";
import type { AuditCase, Drawn } from "./cases.js";

/** The result of repeated runs of one operation and its gradients in one runtime. */
export interface Audited {
	readonly runtime: string;
	readonly repetitions: number;
	/** Repetitions that differ in any bit from the first of the same runtime. */
	readonly differing: number;
	/** The largest difference from the reference, relative to its largest value. */
	readonly error: number;
	/** Why the engine does not support the operation; it then counts as neither right nor wrong. */
	readonly unsupported?: string;
}

const dtypes = { float: "float32", positive: "float32", index: "int32", bool: "bool" } as const;

/** Cached by shape: most cases share shapes, and drawing takes longer than running. */
const known = new Map<string, Data>();

function drawn(given: Drawn, name: string): Data {
	const key = JSON.stringify([name, given]);
	const values = known.get(key) ?? draw(given, name);
	known.set(key, values);
	return values;
}

function draw(given: Drawn, name: string): Data {
	const draws = random(0).fork(name);
	const length = size(given.shape);
	// Filled in a loop: `from` takes several times as long.
	const fill = <Values extends Data>(values: Values, next: () => number): Values => {
		for (let i = 0; i < length; i++) values[i] = next();
		return values;
	};
	if (given.kind === "index") return fill(new Int32Array(length), () => draws.integer(given.below));
	if (given.kind === "bool") return fill(new Uint8Array(length), () => draws.integer(2));
	const [low, high] = given.kind === "positive" ? [0.3, 2] : [-1.5, 1.5];
	return fill(new Float32Array(length), () => low + (high - low) * draws.uniform());
}

/** The operation's value, and the gradients of a weighted sum of it. */
export function outputsOf({ given, build }: AuditCase): Record<string, Tensor> {
	const inputs = Object.fromEntries(
		Object.entries(given).map(([name, { shape, kind }]) => [
			name,
			input(name, shape, dtypes[kind]),
		]),
	);
	const value = build(inputs);
	const outputs: Record<string, Tensor> = { value };
	const floats = Object.entries(inputs).filter(([, { dtype }]) => dtype === "float32");
	if (value.dtype !== "float32" || floats.length === 0) return outputs;
	const weights = drawn({ shape: value.shape as FixedShape, kind: "float" }, "weights");
	const loss = sum(mul(value, constant(weights, value.shape)));
	const wrt = floats.map(([, tensor]) => tensor);
	for (const [i, gradient] of gradients(loss, wrt).entries())
		outputs[`gradient/${floats[i]?.[0]}`] = gradient;
	return outputs;
}

const bytes = ({ buffer, byteOffset, byteLength }: Data) =>
	new Uint8Array(buffer, byteOffset, byteLength);
const sameBits = (a: Data, b: Data) => Buffer.compare(bytes(a), bytes(b)) === 0;

function relativeError(got: Data, expected: Data): number {
	let difference = 0;
	let scale = 0;
	// Most values agree to the bit, which is found faster than a difference.
	if (got !== expected && sameBits(got, expected)) return 0;
	for (let i = 0; i < expected.length; i++) {
		const a = got[i];
		const b = expected[i];
		if (!Number.isFinite(a) || !Number.isFinite(b)) return Number.POSITIVE_INFINITY;
		difference = Math.max(difference, Math.abs(a - b));
		scale = Math.max(scale, Math.abs(b));
	}
	return difference === 0 ? 0 : difference / scale;
}

/**
 * Runs an operation and its gradients repeatedly in each runtime. Engines split large tensors over threads: this
 * detects kernels that lose updates or whose sums depend on the order in which threads finish. The first run of the
 * first runtime is the reference.
 */
export async function audit(
	entry: AuditCase,
	runtimes: readonly Runtime[],
	repetitions: number,
): Promise<readonly Audited[]> {
	const outputs = outputsOf(entry);
	const values = Object.fromEntries(
		Object.entries(entry.given).map(([name, given]) => [name, drawn(given, name)]),
	);
	const results: Audited[] = [];
	let reference: Record<string, Data> | undefined;
	for (const runtime of runtimes) {
		const run = async (program: Program): Promise<Audited> => {
			const first = await program.run(values);
			reference ??= first;
			let [differing, error] = [0, 0];
			const compare = (got: Record<string, Data>) => {
				for (const [name, expected] of Object.entries(reference ?? {}))
					error = Math.max(error, relativeError(got[name], expected));
			};
			compare(first);
			for (let repetition = 1; repetition < repetitions; repetition++) {
				const again = await program.run(values);
				if (Object.keys(first).every((name) => sameBits(first[name], again[name]))) continue;
				differing++;
				compare(again);
			}
			return { runtime: runtime.label, repetitions, differing, error };
		};
		let program: Program | undefined;
		try {
			program = await runtime.compile({ outputs });
			results.push(await run(program));
		} catch (failure) {
			// The reference runs everything.
			if (!reference) throw failure;
			const unsupported = failure instanceof Error ? failure.message : String(failure);
			results.push({ runtime: runtime.label, repetitions: 0, differing: 0, error: 0, unsupported });
		} finally {
			await program?.dispose();
		}
	}
	return results;
}
