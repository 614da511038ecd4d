import { specialTokens } from "../../data/cohort/vocabulary.js";
import { type Data, programs, type Runtime } from "../../engine/runtime/index.js";
import type { ParameterValues } from "../model.js";
import {
	type Events,
	type Predictions,
	type Predictor,
	predictorFrom,
	type Query,
	type QueryOptions,
	type State,
} from "../predictor.js";
import { decaysByTime, type TrajgptConfig } from "./config.js";
import * as inference from "./inference-graph.js";
import {
	fewShapes,
	noPadding,
	passesOver,
	passFeeds,
	type Row,
	reuseSlotPredictions,
	rowsOfPass,
	withAngles,
} from "./passes.js";

/** Pass shapes that stay compiled. */
const mostPrograms = 24;
/** Programs with open sizes that stay compiled: each holds all weights. */
const mostOpenPrograms = 8;

const none: Events = { tokens: [], times: [] };

type Memories = Pick<State, "memory" | "patients">;

const isEmpty = ({ memory }: State): boolean => Object.keys(memory).length === 0;

export function predictor(
	runtime: Runtime,
	config: TrajgptConfig,
	weights: ParameterValues,
): Predictor {
	const { vocab } = config;
	const portable = runtime.target === "portable";
	const parts = inference.memoryParts(config);
	// Slots are counted by a constant, whose size must be known.
	const open = runtime.opensSizes === true && config.position === "time";
	// Programs with open sizes contain the weights.
	const resident = open ? undefined : runtime.resident(weights);
	const padding = open ? noPadding : fewShapes;
	const compiled = programs(
		runtime,
		(shape: inference.GraphShape) =>
			inference.inferenceGraph(runtime.target, config, weights, shape),
		{ keyText: JSON.stringify, most: open ? mostOpenPrograms : mostPrograms },
	);

	/** Copies the memory of patient from[i] of the source to patient to[i] of the target. */
	const copyMemory = (
		source: Memories,
		from: readonly number[],
		target: Memories,
		to: readonly number[],
	) => {
		for (const { name, width } of parts)
			for (const [i, patient] of from.entries()) {
				const memory = source.memory[name]?.subarray(patient * width, (patient + 1) * width) ?? [];
				target.memory[name]?.set(memory, to[i] * width);
			}
	};
	const emptyMemory = (patients: number): Memories => ({
		memory: Object.fromEntries(
			parts.map(({ name, width }) => [name, new Float32Array(patients * width)]),
		),
		patients,
	});
	/** The memory that a pass returns, if it keeps any. */
	const memoryAfter = (outputs: Readonly<Record<string, Data>>): State["memory"] | undefined =>
		outputs[inference.after(inference.stateOf(0))] &&
		Object.fromEntries(
			parts.map(({ name }) => [name, outputs[inference.after(name)] as Float32Array]),
		);

	/** The state after the events, and the predictions; `queries` has one list per patient. */
	async function run(
		state: State,
		events: readonly Events[] | undefined,
		queries: readonly (readonly Query[])[],
		keep: boolean,
		options: QueryOptions,
	): Promise<{ state: State; predictions: Predictions }> {
		const { patients } = state;
		// By time, an event and a query at its time decay the state alike.
		const byTime = decaysByTime(config);
		const asNextEvent = !byTime && options.asNextEvent === true;
		const queriesPerPatient = queries[0]?.length ?? 0;
		const remembers = keep && events !== undefined;
		let kept = remembers ? undefined : state.memory;
		const logProbabilities = new Float32Array(patients * queriesPerPatient * vocab);
		const left = Array.from({ length: patients }, (_, patient): Row => {
			return { patient, events: events?.[patient] ?? none, queries: queries[patient] ?? [] };
		});
		// Histories of similar length share a pass.
		left.sort((a, b) => b.events.times.length - a.events.times.length);
		while (left.length > 0) {
			const rows = left.splice(0, rowsOfPass(left, padding));
			const paddedRows = padding.rows(rows.length);
			const patientOf = rows.map(({ patient }) => patient);
			const rowNumbers = [...rows.keys()];
			// If the rows are all patients in order, no memory needs to be copied.
			const whole = paddedRows === patients && patientOf.every((patient, row) => patient === row);
			// Observing continues from here with the same program, so it starts from zeros instead.
			const fresh = !open && isEmpty(state) && !remembers && rows[0].events.times.length > 0;
			let memory: State["memory"] | undefined;
			if (!fresh && whole && !isEmpty(state)) memory = state.memory;
			else if (!fresh) {
				const zeros = emptyMemory(paddedRows);
				if (!isEmpty(state)) copyMemory(state, patientOf, zeros, rowNumbers);
				memory = zeros.memory;
			}
			const all = passesOver(rows, padding);
			const lastQuery = all.findLastIndex(({ queryCount }) => queryCount > 0);
			// Passes after the last query change only the memory.
			const passes = remembers ? all : all.slice(0, lastQuery + 1);
			for (const [at, pass] of passes.entries()) {
				const fromSlots =
					open && (byTime || asNextEvent) && pass.slots > 1 && pass.queryCount > 0
						? reuseSlotPredictions(rows, paddedRows, pass)
						: undefined;
				const { remaining = pass.queries, remainingCount = pass.queryCount } = fromSlots ?? {};
				const reduced = { ...pass, queries: remaining, queryCount: remainingCount };
				const { feeds, ...made } = passFeeds(state, rows, paddedRows, reduced);
				const shape: inference.PassShape = {
					...made,
					asNextEvent,
					rows: paddedRows,
					slots: pass.slots,
					queries: remainingCount,
					selected: fromSlots ? pass.queryCount : 0,
					fresh: memory === undefined,
					keep: pass.slots > 0 && !pass.again && (remembers || at < passes.length - 1),
				};
				const outputs = await compiled.run(
					open ? inference.opened(shape) : shape,
					{ ...(portable ? withAngles(config, feeds) : feeds), ...fromSlots?.feeds, ...memory },
					resident,
					{ sizes: inference.sizesOfPass(shape) },
				);
				memory = memoryAfter(outputs) ?? memory;
				const predictions = outputs.predictions as Float32Array | undefined;
				for (const [row, patient] of patientOf.entries())
					for (const [i, { index }] of (pass.queries[row] ?? []).entries()) {
						const from = (row * pass.queryCount + i) * vocab;
						const predicted = predictions?.subarray(from, from + vocab) ?? [];
						logProbabilities.set(predicted, (patient * queriesPerPatient + index) * vocab);
					}
			}
			if (!remembers || !memory) continue;
			if (whole) kept = memory;
			else {
				kept ??= emptyMemory(patients).memory;
				copyMemory(
					{ memory, patients: paddedRows },
					rowNumbers,
					{ memory: kept, patients },
					patientOf,
				);
			}
		}
		const last = <T extends "tokens" | "times">(field: T, patient: number) => {
			const values = events?.[patient]?.[field];
			return values && values.length > 0 ? values[values.length - 1] : state[field][patient];
		};
		const now: State = {
			patients,
			tokens: state.tokens.map((_, patient) => last("tokens", patient)),
			times: state.times.map((_, patient) => last("times", patient)),
			memory: kept ?? state.memory,
		};
		return {
			state: now,
			predictions: { patients, queries: queriesPerPatient, vocab, logProbabilities },
		};
	}

	const start = (patients: number): State => ({
		patients,
		tokens: new Int32Array(patients).fill(specialTokens.sos),
		times: new Float64Array(patients).fill(Number.NaN),
		memory: {},
	});

	return predictorFrom({
		vocab,
		start,
		select(state, patients) {
			const memories = emptyMemory(patients.length);
			if (!isEmpty(state)) copyMemory(state, patients, memories, [...patients.keys()]);
			return {
				patients: patients.length,
				tokens: Int32Array.from(patients, (patient) => state.tokens[patient]),
				times: Float64Array.from(patients, (patient) => state.times[patient]),
				memory: isEmpty(state) ? state.memory : memories.memory,
			};
		},
		run,
		async dispose() {
			resident?.dispose();
			await compiled.dispose();
		},
	});
}
