import { expect, test } from "vitest";
import { type Communicator, oneProcess } from "../../base/communicator.js";
import { type Model, modelById } from "../index.js";
import { expectSame, largestOf, smallConfig, stepOf } from "./testing/one-step.js";
import { checkDivisible } from "./trainer.js";

const indivisible = ["patchtst", "raindrop"];
/** One of each kind: event by event, by windows, by sets. */
const kinds = ["trajgpt", "gpt2", "bitimelygpt", "gru-d", "seft"];

type Values = Float32Array | Float64Array;

/** Rank 0 of a job whose other ranks have computed their parts before; and those, which note what they add. */
function job(size: number) {
	const parts: Values[][] = [];
	const add = (into: Values, more: Values) => {
		for (let i = 0; i < into.length; i++) into[i] += more[i];
	};
	const ranks = Array.from({ length: size }, (_, rank): Communicator => {
		let call = 0;
		const own: Values[] = [];
		parts[rank] = own;
		return {
			...{ ...oneProcess, rank, size },
			sum(values) {
				if (rank > 0) own.push(values.slice());
				else for (const part of parts.slice(1)) add(values, part[call]);
				call++;
			},
		};
	});
	return ranks;
}

async function dividedStep(model: Model, size: number, counts: readonly number[]) {
	const [first, ...others] = job(size) as [Communicator, ...Communicator[]];
	for (const rank of others) await stepOf(model, counts, rank);
	return stepOf(model, counts, first);
}

test.each(kinds)("%s: a step that processes share equals that of one", async (id) => {
	const model = modelById(id);
	const alone = await stepOf(model, [5]);
	const together = await dividedStep(model, 2, [5]);
	expect(together.result.targets).toEqual(alone.result.targets);
	expectSame(together, alone, 5, (_, largestOfAll) => 1e-5 * largestOfAll);
});

test.each([
	[4, [5]], // the last process has empty rows alone
	[3, [1]],
	[2, [3, 4]], // two batches per step
])("%i processes share batches of %o rows", async (size, counts) => {
	const model = modelById("trajgpt");
	const alone = await stepOf(model, counts);
	const together = await dividedStep(model, size, counts);
	expect(together.result.gradientNorm / alone.result.gradientNorm).toBeCloseTo(1, 5);
	for (const [name, { data }] of alone.state) {
		if (!name.startsWith("second/")) continue;
		const other = together.state.get(name)!.data;
		const difference = largestOf(data.map((value, i) => value - other[i]));
		expect(difference, name).toBeLessThanOrEqual(1e-4 * largestOf(data));
	}
});

test("a loss that is not finite on one rank is one of all, and changes no weight", async () => {
	const model = modelById("trajgpt");
	const [first, other] = job(2) as [Communicator, Communicator];
	await stepOf(model, [4], other);
	const broken: Communicator = {
		...first,
		sum(values) {
			first.sum(values);
			values[0] = Number.NaN;
		},
	};
	const { result, state } = await stepOf(model, [4], broken);
	expect(result.finite).toBe(false);
	for (const [name, { data }] of state)
		if (name.startsWith("first/")) expect(largestOf(data)).toBe(0);
});

test.each(indivisible)("%s learns from whole batches, and is refused", (id) => {
	const model = modelById(id);
	expect(() => checkDivisible(model, smallConfig(model))).toThrow(
		`${model.name} is trained on each batch as a whole, which processes cannot share; start its training without a launcher`,
	);
});
