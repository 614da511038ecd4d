import { InputError } from "../../base/errors.js";
import { type Feeds, programs, type Runtime } from "../../engine/runtime/index.js";
import { type Dim, type Graph, input, type Tensor } from "../../engine/tensor/index.js";
import { ageFeatures, pastFeatures } from "../hazards/landmarks.js";
import { nextVisitFrom } from "../hazards/next-visit.js";
import { binsOf, type HazardSettings, visitBinsOf } from "../hazards/settings.js";
import type { ParameterValues } from "../model.js";
import { parametersOf, weightsOf } from "../nn/weights.js";
import type { FutureRows, FutureSteps } from "../predictor.js";
import { decaysByTime, type TrajgptConfig } from "./config.js";
import { memoryParts } from "./inference-graph.js";
import { network, rotaryOf } from "./network.js";
import { withAngles } from "./passes.js";
import { updatedStates } from "./state-update.js";

/** The most rows of a program. Many rows share the cost of a call. */
const mostRows = 512;
/** Rows of the programs, where sizes cannot be open. Few are for the last futures. */
const fixedSizes: readonly number[] = [16, 64, 128, 256];
/** How long a wait is at most, in days, if the first bin is not longer. Someone not seen for so long waits again. */
const longestWait = 100;

/** The output with what a record does to a part of the state: S = γ S + kᵀ v. */
const updateOf = (part: string, field: UpdateField) => `${part}.${field}`;

type UpdateField = "decay" | "k" | "v";

/** Steps of futures from the recurrent state: each takes the same time, however long the history. */
export function futureSteps(
	runtime: Runtime,
	config: TrajgptConfig,
	weights: ParameterValues,
): FutureSteps {
	const { position } = config;
	if (position !== "time")
		throw new InputError(
			`futures need \`position\` time; this model was trained with \`position\` ${position}`,
		);
	// Portable graphs have no float64, which WebGPU does not support.
	const portable = runtime.target === "portable";
	// Any number of rows in one program: compiling is slow, and padding would cost as much as futures.
	const open = runtime.opensSizes ?? runtime.target === "cpu";
	const sizeFor = (count: number) => {
		if (open) return Math.min(count, mostRows);
		return fixedSizes.find((size) => size >= count) ?? (fixedSizes.at(-1) as number);
	};
	const settings = config.hazards as HazardSettings;
	const parts = memoryParts(config);
	const bins = Math.max(1, binsOf(settings).to.filter((end) => end <= longestWait).length);
	const visitBins = visitBinsOf(settings).within.filter((bin) => bin < bins).length;
	const constants = new Map([...weights].map(([name, { data }]) => [name, data]));
	const parameters = parametersOf(weights);
	const compiled = programs(
		runtime,
		(rows: Dim): Graph => ({
			outputs: outputsFor(rows),
			weights: constants,
			...(open && { largest: { rows: mostRows } }),
		}),
	);

	function outputsFor(rows: Dim): Graph["outputs"] {
		const states = parts.map(({ name, heads, key, value }) =>
			input(name, [rows, heads, key, value]),
		);
		const tokens = {
			tokens: input("tokens", [rows, 1], "int32"),
			times: portable
				? input("angles", [rows, 1, rotaryOf(config).half])
				: input("times", [rows, 1], "float64"),
			gaps: input("gaps", [rows, 1]),
		};
		// By time, a record decays the state as a query at its time does; by event, it takes a slot of its own.
		const byTime = decaysByTime(config);
		const out = network(config, parameters, {
			...(byTime
				? { queries: { ...tokens, read: "after" } }
				: { slots: tokens, queries: { ...tokens, read: "before" }, predicting: 0 }),
			states,
			counts: states[config.layers],
		});
		const p = weightsOf(parameters);
		const hidden = out.queryHidden as Tensor;
		const past = input("past", [rows, pastFeatures]);
		return {
			logits: (byTime ? out.queryLogits : out.logits) as Tensor,
			...nextVisitFrom(
				p,
				hidden.reshape([rows, config.dim]),
				{ ages: input("ages", [rows, ageFeatures]), sinceAny: input("sinceAny", [rows, 1]), past },
				visitBins,
			),
			...Object.fromEntries(
				out.updates.flatMap(({ k, v, logDecay }, i) => {
					const { name } = parts[i];
					const ofRecord = (x: Tensor) => x.slice(2, 0, 1);
					const fields = { k: ofRecord(k), v: ofRecord(v), decay: ofRecord(logDecay).exp() };
					return Object.entries(fields).map(([field, value]) => [
						updateOf(name, field as UpdateField),
						value,
					]);
				}),
			),
		};
	}

	function rows(futures: number): FutureRows {
		const capacity = sizeFor(futures);
		const room = (width: number) => new Float32Array(capacity * width);
		const states = updatedStates(capacity, parts);
		const queries = {
			tokens: new Int32Array(capacity),
			last: new Float64Array(capacity),
			times: new Float64Array(capacity),
			ages: room(ageFeatures),
			sinceAny: room(1),
			past: room(pastFeatures),
		};
		const gaps = room(1);
		const predicted = {
			logits: room(config.vocab),
			visits: room(visitBins),
			deaths: room(visitBins),
			oneRecord: room(visitBins),
			visitEnd: room(visitBins),
			newAlone: room(visitBins),
			newCodes: room(visitBins),
		};
		const { last, ...slots } = queries;
		const named = (field: "state" | UpdateField) =>
			Object.fromEntries(
				parts.map(({ name }, i) => [
					field === "state" ? name : updateOf(name, field),
					states[i][field],
				]),
			);
		const updates = { ...named("decay"), ...named("k"), ...named("v") };
		const firstRows = (arrays: Feeds, count: number): Feeds =>
			Object.fromEntries(
				Object.entries(arrays).map(([name, array]) => [
					name,
					array.subarray(0, (array.length / capacity) * count),
				]),
			);
		const inputs = { ...slots, gaps, ...named("state") };
		const outputs = { ...predicted, ...updates };
		return {
			capacity,
			queries,
			start(row, memory, patient) {
				for (const [i, { name }] of parts.entries()) {
					const { state } = states[i];
					const width = state.length / capacity;
					const known = memory[name]?.subarray(patient * width, (patient + 1) * width);
					if (known) state.set(known, row * width);
					else state.fill(0, row * width, (row + 1) * width);
				}
			},
			copy(from, to) {
				for (const { state } of states) {
					const width = state.length / capacity;
					state.copyWithin(to * width, from * width, (from + 1) * width);
				}
			},
			async step(count) {
				for (let row = 0; row < count; row++) {
					const gap = queries.times[row] - last[row];
					gaps[row] = Number.isNaN(gap) ? 0 : gap;
				}
				const size = sizeFor(count);
				const feeds = firstRows(inputs, size);
				const into = firstRows(outputs, size);
				const results = await compiled.run(
					open ? "rows" : size,
					portable ? withAngles(config, feeds) : feeds,
					undefined,
					{ into, sizes: { rows: size } },
				);
				for (const [name, array] of Object.entries(into))
					if (results[name] !== array) array.set(results[name]);
				return predicted;
			},
			keep(row) {
				for (const { update } of states) update(row);
			},
		};
	}

	return { bins, visitBins, rows, dispose: compiled.dispose };
}
