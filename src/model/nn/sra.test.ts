import { readFileSync } from "node:fs";
import { afterAll, describe, expect, it } from "vitest";
import { random } from "../../base/random.js";
import type { Program } from "../../engine/runtime/index.js";
import { nodeRuntime } from "../../engine/runtime/node.js";
import { evaluatorOf, relativeError } from "../../engine/runtime/testing/evaluate.js";
import {
	type FixedShape,
	type FloatType,
	gradients,
	input,
	size,
	type Tensor,
} from "../../engine/tensor/index.js";
import { chunkwise, parallel, recurrent, type SraForm } from "./sra.js";
import { type ReferenceGradients, reference, referenceGradients } from "./testing/sra-reference.js";

const runtime = nodeRuntime({ threads: 2, spinning: false });

interface Case {
	readonly batch: number;
	readonly heads: number;
	readonly length: number;
	readonly key: number;
	readonly value: number;
	readonly values: Readonly<Record<string, Float64Array>>;
}

const names = ["q", "k", "v", "logDecay", "initialState"] as const;

function shapes({ batch, heads, length, key, value }: Case): Record<string, FixedShape> {
	return {
		q: [batch, heads, length, key],
		k: [batch, heads, length, key],
		v: [batch, heads, length, value],
		logDecay: [batch, heads, length],
		initialState: [batch, heads, key, value],
		outputCotangent: [batch, heads, length, value],
		stateCotangent: [batch, heads, key, value],
	};
}

const forms: Record<string, SraForm> = {
	parallel,
	"chunkwise 16": chunkwise(16),
	"chunkwise 64": chunkwise(64),
	recurrent,
};

const formNames = new Map(Object.entries(forms).map(([name, form]) => [form, name]));

type Compiled = Pick<Program, "run" | "dispose"> | Awaited<ReturnType<typeof evaluatorOf>>;

/** A graph of slots one by one is so large that optimizing it would take most of the time. */
const compileForm = (
	form: SraForm,
	outputs: Readonly<Record<string, Tensor>>,
): Promise<Compiled> => (form === recurrent ? evaluatorOf(outputs) : runtime.compile({ outputs }));

const numbers = (result: Readonly<Record<string, ArrayLike<number>>>): Record<string, number[]> =>
	Object.fromEntries(Object.entries(result).map(([name, data]) => [name, Array.from(data)]));

/** A form with its gradients, compiled once per shape. */
const compiled = new Map<string, Promise<Compiled>>();

function compile(form: SraForm, c: Case, dtype: FloatType): Promise<Compiled> {
	const { batch, heads, length, key, value } = c;
	const text = [formNames.get(form), dtype, batch, heads, length, key, value].join();
	const known = compiled.get(text);
	if (known) return known;
	const t = Object.fromEntries(
		Object.entries(shapes(c)).map(([name, shape]) => [name, input(name, shape, dtype)]),
	) as Record<string, Tensor>;
	const inputs = names.map((name) => t[name]);
	const [q, k, v, logDecay, initialState] = inputs as [Tensor, Tensor, Tensor, Tensor, Tensor];
	const { output, finalState } = form({ q, k, v, logDecay, initialState });
	const loss = output.mul(t.outputCotangent).sum().add(finalState.mul(t.stateCotangent).sum());
	const outputs: Record<string, Tensor> = { output, finalState };
	gradients(loss, inputs).forEach((g, i) => {
		outputs[`d.${names[i]}`] = g;
	});
	const program = compileForm(form, outputs);
	compiled.set(text, program);
	return program;
}

afterAll(async () => {
	for (const program of compiled.values()) await (await program).dispose();
});

/** Values and gradients of a form, run by ONNX Runtime. */
async function run(form: SraForm, c: Case, dtype: FloatType): Promise<Record<string, number[]>> {
	const program = await compile(form, c, dtype);
	const array = dtype === "float32" ? Float32Array : Float64Array;
	const feeds = Object.fromEntries(
		Object.keys(shapes(c)).map((name) => [name, array.from(c.values[name])]),
	);
	return numbers(await program.run(feeds));
}

/** The same, in blocks that hand their state on, and its cotangent back. */
async function runInBlocks(
	form: SraForm,
	c: Case,
	dtype: FloatType,
	block: number,
): Promise<Record<string, number[]>> {
	const rows = c.batch * c.heads;
	/** Columns [start, end) of the length axis. */
	const part = (data: ArrayLike<number>, width: number, start: number, end: number) =>
		Float64Array.from({ length: rows * (end - start) * width }, (_, i) => {
			const row = Math.floor(i / ((end - start) * width));
			return data[row * c.length * width + start * width + (i % ((end - start) * width))];
		});
	const widths = { q: c.key, k: c.key, v: c.value, logDecay: 1, outputCotangent: c.value };
	const starts = Array.from({ length: Math.ceil(c.length / block) }, (_, i) => i * block);
	const cases = starts.map((start): Case => {
		const end = Math.min(c.length, start + block);
		const values = Object.fromEntries(
			Object.entries(widths).map(([name, width]) => [
				name,
				part(c.values[name], width, start, end),
			]),
		);
		return { ...c, length: end - start, values };
	});
	const zeros = new Float64Array(rows * c.key * c.value);
	const initialStates = [c.values.initialState];
	for (const [i, piece] of cases.entries()) {
		const values = {
			...piece.values,
			initialState: initialStates[i],
			stateCotangent: zeros,
		};
		const { finalState } = await run(form, { ...piece, values }, dtype);
		initialStates.push(Float64Array.from(finalState));
	}
	let stateCotangent = c.values.stateCotangent;
	const results: Record<string, number[]>[] = [];
	for (let i = cases.length - 1; i >= 0; i--) {
		const piece = cases[i];
		const values = {
			...piece.values,
			initialState: initialStates[i],
			stateCotangent,
		};
		const result = await run(form, { ...piece, values }, dtype);
		stateCotangent = Float64Array.from(result["d.initialState"]);
		results.unshift(result);
	}
	const joined = (name: string, width: number) =>
		Array.from({ length: rows }, (_, row) =>
			results.flatMap((result, i) => {
				const n = cases[i].length * width;
				return result[name].slice(row * n, (row + 1) * n);
			}),
		).flat();
	return {
		output: joined("output", c.value),
		finalState: results.at(-1)?.finalState as number[],
		"d.q": joined("d.q", c.key),
		"d.k": joined("d.k", c.key),
		"d.v": joined("d.v", c.value),
		"d.logDecay": joined("d.logDecay", 1),
		"d.initialState": Array.from(stateCotangent),
	};
}

/** The plain loop, over every sequence and head. */
function expected(c: Case): Record<string, number[]> {
	const all: Record<string, number[]> = { output: [], finalState: [] };
	for (let r = 0; r < c.batch * c.heads; r++) {
		const row = (name: string, width: number) =>
			c.values[name].subarray(r * width, (r + 1) * width);
		const { length, key, value } = c;
		const x = {
			length,
			key,
			value,
			q: row("q", length * key),
			k: row("k", length * key),
			v: row("v", length * value),
			logDecay: row("logDecay", length),
			initialState: row("initialState", key * value),
		};
		const { output, finalState } = reference(x);
		all.output?.push(...output);
		all.finalState?.push(...finalState);
		const g: ReferenceGradients = referenceGradients(
			x,
			row("outputCotangent", length * value),
			row("stateCotangent", key * value),
		);
		for (const name of names) {
			const part = all[`d.${name}`] ?? [];
			part.push(...g[name]);
			all[`d.${name}`] = part;
		}
	}
	return all;
}

function expectClose(
	actual: Record<string, readonly number[]>,
	wanted: Record<string, readonly number[]>,
	tolerance: number,
): void {
	const errors = Object.keys(wanted).map(
		(name) => [name, relativeError(actual[name] ?? [], wanted[name] ?? [])] as const,
	);
	expect(errors.filter(([, error]) => !(error <= tolerance))).toEqual([]);
}

/** Gates from nearly 0 to nearly 1, or as told, with rows whose end is padding. */
function makeCase(length: number, seed: number, gate: "mixed" | "open" | "shut" = "mixed"): Case {
	const c = { batch: 2, heads: 2, length, key: 4, value: 6 };
	const draw = random(seed);
	const values = Object.fromEntries(
		Object.entries(shapes({ ...c, values: {} })).map(([name, shape]) => [
			name,
			Float64Array.from({ length: size(shape) }, () => Math.fround(draw.normal())),
		]),
	) as Record<string, Float64Array>;
	const spread = {
		mixed: () => 12 * draw.normal(),
		open: () => 9 + draw.uniform(),
		shut: () => -20,
	};
	const logits = values.logDecay.map(spread[gate]);
	values.logDecay = logits.map((x) => Math.fround(-Math.log1p(Math.exp(-x))));
	// The second sequence ends at two thirds: what follows adds nothing and decays nothing.
	const end = Math.ceil((length * 2) / 3);
	for (let h = 0; h < c.heads; h++) {
		const row = c.heads + h;
		values.logDecay.fill(0, row * length + end, (row + 1) * length);
		values.k?.fill(0, (row * length + end) * c.key, (row + 1) * length * c.key);
	}
	return { ...c, values };
}

describe("selective recurrent attention", () => {
	for (const length of [1, 7, 63, 64, 65, 130, 1000]) {
		for (const [name, form] of Object.entries(forms))
			it(`${name} equals the plain loop at length ${length}, in value and every gradient`, async () => {
				const c = makeCase(length, length);
				const wanted = expected(c);
				// A graph of a thousand slots one by one takes long to compile, and says no more.
				const whole = form !== recurrent || length < 1000;
				for (const [dtype, tolerance] of [
					["float64", 1e-10],
					["float32", 1e-5],
				] as const) {
					const result = whole ? run(form, c, dtype) : runInBlocks(form, c, dtype, 125);
					expectClose(await result, wanted, tolerance);
				}
			});
	}

	it("changes nothing when a sequence is split and the state carried on", async () => {
		const c = makeCase(130, 4);
		for (const form of Object.values(forms))
			expectClose(await runInBlocks(form, c, "float64", 37), expected(c), 1e-10);
	});

	for (const gate of ["open", "shut"] as const) {
		for (const [name, form] of Object.entries(forms))
			it(`${name} holds with gates all ${gate}`, async () => {
				const c = makeCase(130, 5, gate);
				expectClose(await run(form, c, "float64"), expected(c), 1e-10);
				expectClose(await run(form, c, "float32"), expected(c), 1e-5);
			});
	}

	it("keeps the digits of short gaps that follow a very long one", async () => {
		const c = makeCase(64, 9, "open");
		c.values.logDecay?.fill(-3e4, 5, 6);
		for (const form of Object.values(forms))
			expectClose(await run(form, c, "float32"), expected(c), 1e-5);
	});

	it("does not overflow or lose itself at length 16,384 with gate logits of −20", async () => {
		const c = makeCase(16384, 3, "shut");
		expectClose(await run(forms["chunkwise 64"], c, "float32"), expected(c), 1e-5);
	});

	/** Values and gradients as in training: from no state, with second queries. */
	async function runFresh(form: SraForm, c: Case, dtype: FloatType) {
		const t = (name: string) => input(name, shapes(c)[name], dtype);
		const [q, k, v, logDecay] = [t("q"), t("k"), t("v"), t("logDecay")];
		const before = input("before", shapes(c).q, dtype);
		const out = form({ q, k, v, logDecay, before });
		const read = out.before as Tensor;
		const cotangent = t("outputCotangent");
		const loss = out.output.mul(cotangent).sum().add(read.mul(read).mul(cotangent).sum());
		const outputs: Record<string, Tensor> = { output: out.output, read };
		gradients(loss, [q, k, v, logDecay, before]).forEach((g, i) => {
			outputs[`d.${i}`] = g;
		});
		const program = await compileForm(form, outputs);
		const array = dtype === "float32" ? Float32Array : Float64Array;
		const values = { ...c.values, before: c.values.q.toReversed() };
		const result = await program.run(
			Object.fromEntries(Object.entries(values).map(([name, data]) => [name, array.from(data)])),
		);
		await program.dispose();
		return numbers(result);
	}

	for (const length of [7, 65, 130, 192, 260])
		it(`starts from nothing and answers second queries at length ${length}, gradients too`, async () => {
			const c = makeCase(length, 60 + length);
			const wanted = await runFresh(recurrent, c, "float64");
			for (const form of Object.values(forms)) {
				if (form !== recurrent) expectClose(await runFresh(form, c, "float64"), wanted, 1e-10);
				// Slots one by one take long to compile, and more of them say no more.
				if (form !== recurrent || length <= 65)
					expectClose(await runFresh(form, c, "float32"), wanted, 1e-5);
			}
		});

	it("reads the state before each slot", async () => {
		const c = makeCase(130, 21);
		const [batch, heads, length, key, value] = [c.batch, c.heads, c.length, c.key, c.value];
		const results = await Promise.all(
			Object.values(forms).map(async (form) => {
				const t = (name: string) => input(name, shapes(c)[name], "float64");
				const { before } = form({
					q: t("q"),
					k: t("k"),
					v: t("v"),
					logDecay: t("logDecay"),
					initialState: t("initialState"),
					before: input("before", [batch, heads, length, key], "float64"),
				});
				const program = await compileForm(form, { read: before as Tensor });
				const { read } = await program.run({ ...c.values, before: c.values.q });
				await program.dispose();
				return Array.from(read as ArrayLike<number>);
			}),
		);
		// q_n S_{n-1}, from the plain loop's states.
		const wanted: number[] = [];
		for (let r = 0; r < batch * heads; r++) {
			const row = (name: string, width: number) =>
				c.values[name].subarray(r * width, (r + 1) * width);
			const q = row("q", length * key);
			const { states } = reference({
				length,
				key,
				value,
				q,
				k: row("k", length * key),
				v: row("v", length * value),
				logDecay: row("logDecay", length),
				initialState: row("initialState", key * value),
			});
			for (let n = 0; n < length; n++)
				for (let j = 0; j < value; j++) {
					let total = 0;
					for (let i = 0; i < key; i++) total += q[n * key + i] * states[n]?.[i * value + j];
					wanted.push(total);
				}
		}
		for (const read of results) expect(relativeError(read, wanted)).toBeLessThan(1e-12);
	});

	const goldens = JSON.parse(
		readFileSync(new URL("fixtures/sra.json", import.meta.url), "utf8"),
	) as {
		cases: (Record<string, number[]> & { heads: number; length: number; dk: number; dv: number })[];
	};
	goldens.cases.forEach((golden, index) => {
		it(`agrees with PyTorch autograd over the loop, case ${index}`, async () => {
			const { heads, length, dk: key, dv: value } = golden;
			const inputNames = [...names, "outputCotangent", "stateCotangent"];
			const values = Object.fromEntries(
				inputNames.map((name) => [name, Float64Array.from(golden[name])]),
			);
			const c: Case = { batch: 1, heads, length, key, value, values };
			const wanted: Record<string, number[]> = {};
			const from = {
				output: "output",
				finalState: "finalState",
				"d.q": "dq",
				"d.k": "dk_",
				"d.v": "dv_",
				"d.logDecay": "dLogDecay",
				"d.initialState": "dInitialState",
			};
			for (const [ours, theirs] of Object.entries(from)) wanted[ours] = golden[theirs];
			// The file carries 12 digits.
			for (const form of Object.values(forms))
				expectClose(await run(form, c, "float64"), wanted, 1e-10);
			expectClose(expected(c), wanted, 1e-10);
		});
	});
});
