import { specialTokens } from "../../cohort/vocabulary.js";
import {
	input,
	logSoftmax,
	type OnnxModel,
	parameter,
	type Target,
	toOnnx,
} from "../../graph/index.js";
import { type Data, type Feeds, programs, type Runtime } from "../../runtime/index.js";
import type { ParameterValues } from "../model.js";
import type { TrajgptConfig } from "./config.js";
import { network } from "./network.js";

/** What is known of some patients: a matrix a layer and head, and the last event of each. */
export interface State {
	readonly patients: number;
	readonly tokens: Int32Array; // [patients]
	readonly times: Float64Array; // [patients]; NaN before the first event
	readonly memory: Float32Array; // [layers, patients, heads, key, value]
}

/** Events of one patient, in order of time. */
export interface Events {
	readonly tokens: ArrayLike<number>;
	readonly times: ArrayLike<number>;
}

/** log p of every token, for each patient and each time asked about. */
export interface Answers {
	readonly patients: number;
	readonly questions: number;
	readonly vocab: number;
	readonly logProbabilities: Float32Array; // [patients, questions, vocab]
}

/**
 * All inference goes through here. State goes in and comes out; nothing is kept. Slot n holds the
 * token before it and its own time, so an event is observed by a slot with the token last seen at
 * the new event's time, and a question is such a slot that leaves no trace.
 */
export interface Predictor {
	start(patients: number): State;
	/** The state after each patient's further events. */
	observe(state: State, events: readonly Events[]): Promise<State>;
	/** What comes at these times, from the state as it is; as many times for each patient. */
	ask(state: State, times: readonly ArrayLike<number>[]): Promise<Answers>;
	/** Observes, then asks, reading every weight once. */
	advance(
		state: State,
		events: readonly Events[],
		times: readonly ArrayLike<number>[],
	): Promise<{ readonly state: State; readonly answers: Answers }>;
	/** Observes from the start and asks, keeping no state. */
	score(events: readonly Events[], times: readonly ArrayLike<number>[]): Promise<Answers>;
	dispose(): Promise<void>;
}

/** One static shape of the inference graph. */
interface Shape {
	readonly rows: number;
	readonly slots: number;
	readonly questions: number;
	/** Whether rows end at different slots. */
	readonly ragged: boolean;
	readonly fresh: boolean;
	readonly keep: boolean;
}

/** Longest run of slots in one pass; longer histories take several, and carry the state. */
const longest = 512;
/** Most patients in one pass. */
const most = 32;
/** Passes over fewer tokens than this read each weight for a handful of products: packed weights pay. */
const packedBelow = 64;

const powerOfTwo = (n: number): number => 2 ** Math.ceil(Math.log2(n));
const slotsFor = (n: number): number =>
	n <= 1 ? n : n <= 16 ? powerOfTwo(n) : Math.ceil(n / 16) * 16;

export function predictor(
	runtime: Runtime,
	config: TrajgptConfig,
	weights: ParameterValues,
): Predictor {
	const { layers, heads, vocab } = config;
	const matrix = (config.key / heads) * (config.value / heads);
	const perPatient = heads * matrix;
	const flat = new Map([...weights].map(([name, { data }]) => [name, data]));
	const resident = runtime.resident(weights);
	const compiled = programs(
		runtime,
		(s: Shape) => graph(runtime.target, config, weights, flat, s),
		JSON.stringify,
	);

	/** Copies rows of the memory between a block of patients and all of them. */
	const memoryOf = (state: State, first: number, rows: number): Float32Array => {
		const block = new Float32Array(layers * rows * perPatient);
		const real = Math.min(rows, state.patients - first);
		for (let l = 0; l < layers; l++) {
			const from = (l * state.patients + first) * perPatient;
			block.set(state.memory.subarray(from, from + real * perPatient), l * rows * perPatient);
		}
		return block;
	};

	/** One pass over one block of at most `most` patients and `longest` slots. */
	async function pass(block: Block, keep: boolean) {
		const shape: Shape = {
			rows: block.rows,
			slots: block.slots,
			questions: block.questions,
			ragged: block.ragged,
			fresh: block.memory === undefined,
			keep,
		};
		const program = await compiled.get(shape);
		return program.run(block.feeds, resident);
	}

	async function run(
		state: State,
		events: readonly Events[] | undefined,
		times: readonly ArrayLike<number>[] | undefined,
		keep: boolean,
	): Promise<{ state: State; answers: Answers }> {
		const { patients } = state;
		for (const [name, list] of [
			["events", events],
			["times", times],
		] as const)
			if (list && list.length !== patients)
				throw new RangeError(`${name} of ${list.length} patients for a state of ${patients}`);
		const questions = times?.[0]?.length ?? 0;
		if (times?.some((t) => t.length !== questions))
			throw new RangeError("ask every patient about as many times");
		const after: State = {
			patients,
			tokens: state.tokens.slice(),
			times: state.times.slice(),
			memory: keep && events ? new Float32Array(layers * patients * perPatient) : state.memory,
		};
		const logProbabilities = new Float32Array(patients * questions * vocab);
		for (let first = 0; first < patients; first += most) {
			const count = Math.min(most, patients - first);
			const rows = powerOfTwo(count);
			const total = events
				? Math.max(...events.slice(first, first + count).map((e) => e.tokens.length))
				: 0;
			const fresh = state.memory.length === 0 && total > 0;
			let memory = fresh ? undefined : memoryOf(state, first, rows);
			for (let from = 0; from === 0 || from < total; from += longest) {
				const slots = slotsFor(Math.min(longest, total - from));
				const last = from + longest >= total;
				const block = feed(after, events, times, {
					first,
					count,
					rows,
					from,
					slots,
					memory,
					questions: last ? questions : 0,
				});
				const outputs = await pass(block, keep || !last);
				memory = (outputs.newStates as Float32Array | undefined) ?? memory;
				if (last && outputs.answers)
					logProbabilities.set(
						(outputs.answers as Float32Array).subarray(0, count * questions * vocab),
						first * questions * vocab,
					);
			}
			if (keep && events && memory)
				for (let l = 0; l < layers; l++)
					after.memory.set(
						memory.subarray(l * rows * perPatient, (l * rows + count) * perPatient),
						(l * patients + first) * perPatient,
					);
		}
		return { state: after, answers: { patients, questions, vocab, logProbabilities } };
	}

	const start = (patients: number): State => ({
		patients,
		tokens: new Int32Array(patients).fill(specialTokens.sos),
		times: new Float64Array(patients).fill(Number.NaN),
		memory: new Float32Array(0),
	});

	return {
		start,
		observe: async (state, events) => (await run(state, events, undefined, true)).state,
		ask: async (state, times) => (await run(state, undefined, times, false)).answers,
		advance: (state, events, times) => run(state, events, times, true),
		score: async (events, times) => (await run(start(events.length), events, times, false)).answers,
		async dispose() {
			resident.dispose();
			await compiled.dispose();
		},
	};
}

interface Block {
	readonly rows: number;
	readonly slots: number;
	readonly questions: number;
	readonly ragged: boolean;
	readonly memory: Float32Array | undefined;
	readonly feeds: Feeds;
}

interface Place {
	readonly first: number;
	readonly count: number;
	readonly rows: number;
	/** The first event of this pass. */
	readonly from: number;
	readonly slots: number;
	readonly questions: number;
	readonly memory: Float32Array | undefined;
}

/** The inputs of one pass; `after` moves on to each patient's last event. */
function feed(
	after: State,
	events: readonly Events[] | undefined,
	times: readonly ArrayLike<number>[] | undefined,
	{ first, count, rows, from, slots, questions, memory }: Place,
): Block {
	const cells = rows * slots;
	const stream = (n: number) => ({
		tokens: new Int32Array(n),
		times: new Float64Array(n),
		gaps: new Float32Array(n),
	});
	const slot = stream(cells);
	const asked = stream(rows * questions);
	const real = new Float32Array(cells);
	let ragged = false;
	for (let row = 0; row < count; row++) {
		const patient = first + row;
		const own = events?.[patient];
		const end = Math.min(slots, Math.max(0, (own?.tokens.length ?? 0) - from));
		if (end < slots) ragged = true;
		for (let n = 0; n < end; n++) {
			const at = row * slots + n;
			const time = own?.times[from + n] as number;
			const before = after.times[patient] as number;
			slot.tokens[at] = after.tokens[patient] as number;
			slot.times[at] = time;
			slot.gaps[at] = Number.isNaN(before) ? 0 : time - before;
			real[at] = 1;
			after.tokens[patient] = own?.tokens[from + n] as number;
			after.times[patient] = time;
		}
		for (let a = 0; a < questions; a++) {
			const at = row * questions + a;
			const time = times?.[patient]?.[a] as number;
			const before = after.times[patient] as number;
			asked.tokens[at] = after.tokens[patient] as number;
			asked.times[at] = time;
			asked.gaps[at] = Number.isNaN(before) ? 0 : time - before;
		}
	}
	const named = (prefix: string, values: Record<string, Data>) =>
		Object.fromEntries(Object.entries(values).map(([name, data]) => [`${prefix}.${name}`, data]));
	return {
		rows,
		slots,
		questions,
		ragged,
		memory,
		feeds: {
			...(slots > 0 && named("slots", slot)),
			...(questions > 0 && named("questions", asked)),
			...(ragged && slots > 0 && { real }),
			...(memory && { states: memory }),
		},
	};
}

function graph(
	target: Target,
	config: TrajgptConfig,
	weights: ParameterValues,
	flat: ReadonlyMap<string, Float32Array>,
	{ rows, slots, questions, ragged, fresh, keep }: Shape,
): OnnxModel {
	const parameters = Object.fromEntries(
		[...weights].map(([name, { shape }]) => [name, parameter(name, shape)]),
	);
	const stream = (prefix: string, length: number) => ({
		tokens: input(`${prefix}.tokens`, [rows, length], "int32"),
		times: input(`${prefix}.times`, [rows, length], "float64"),
		gaps: input(`${prefix}.gaps`, [rows, length]),
	});
	const { heads, layers } = config;
	const out = network(config, parameters, {
		slots: slots > 0 ? stream("slots", slots) : undefined,
		real: ragged && slots > 0 ? input("real", [rows, slots]) : undefined,
		states: fresh
			? undefined
			: input("states", [layers, rows, heads, config.key / heads, config.value / heads]),
		questions: questions > 0 ? { ...stream("questions", questions), read: "after" } : undefined,
	});
	const packed = rows * (slots + questions) < packedBelow;
	return toOnnx(
		{
			...(out.questionLogits && { answers: logSoftmax(out.questionLogits) }),
			...(keep && { newStates: out.states }),
		},
		{ target, ...(packed && { weights: flat }) },
	);
}
