import { type Precision, toStableHlo } from "../../tensor/index.js";
import { interpret } from "../../tensor/lower/stablehlo/testing/interpreter.js";
import * as runtimes from "../runtime.js";

interface Held {
	readonly values: Map<string, runtimes.ResidentValue>;
}

/** Runs the StableHLO text of graphs in plain loops: slow, and exact to the rounding of each operation. */
export const interpretedRuntime = (precision: Precision = "float32"): runtimes.Runtime => ({
	label: "StableHLO, interpreted",
	target: "portable",
	async compile(graph) {
		return {
			async run(feeds, resident, { accept, sizes = {} } = {}) {
				const { text, inputs, outputs } = toStableHlo(graph, { precision, sizes, packs: true });
				const held = (resident as (Held & typeof resident) | undefined)?.values;
				const given = inputs.map((input) => {
					const data = runtimes.fedTo(input, feeds) ?? held?.get(input.name)?.data;
					if (!data) throw new Error(`${input.name} is not given`);
					return data;
				});
				const results = interpret(text, given).map((values, i) => {
					const { name, shape, dtype } = outputs[i];
					return { name, shape, data: runtimes.arrays[dtype].from(values) as runtimes.Data };
				});
				const isNext = ({ name }: { readonly name: string }) =>
					held?.has(runtimes.replaced(name) ?? "") === true;
				const plain = Object.fromEntries(
					results.filter((result) => !isNext(result)).map(({ name, data }) => [name, data]),
				);
				if (accept?.(plain) ?? true)
					for (const { name, shape, data } of results.filter(isNext))
						held?.set(runtimes.replaced(name) as string, { shape, data });
				return plain;
			},
			async dispose() {},
		};
	},
	resident(values) {
		const held: Held = { values: new Map(values) };
		return { ...held, read: async () => new Map(held.values), dispose() {} };
	},
});
