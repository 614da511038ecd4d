import { InputError } from "../../base/errors.js";
import { specialTokens } from "../../cohort/vocabulary.js";
import { programs, type Runtime } from "../../runtime/index.js";
import type { ParameterValues } from "../model.js";
import type { Answers, Events, Predictor, State } from "../predictor.js";
import type { TrajgptConfig } from "./config.js";
import { inferenceGraph, type PassShape } from "./inference-graph.js";
import { passFeeds } from "./passes.js";

/** Longest run of slots in one pass; longer histories take several, and carry the state. */
const longest = 512;
/** Most patients, and most questions a patient, in one pass. */
const most = 32;
const mostQuestions = 256;
/** Shapes of passes that stay compiled. */
const mostPrograms = 24;

const powerOfTwo = (n: number): number => 2 ** Math.ceil(Math.log2(n));

/** Lengths that passes have: few, so that they compile seldom, with a third of padding at most. */
function rounded(n: number): number {
	if (n <= 1) return n;
	const power = powerOfTwo(n);
	return power > 16 && n <= power * 0.75 ? power * 0.75 : power;
}

export function predictor(
	runtime: Runtime,
	config: TrajgptConfig,
	weights: ParameterValues,
): Predictor {
	const { layers, heads, vocab } = config;
	/** Numbers in one layer's memory of one patient. */
	const width = heads * (config.key / heads) * (config.value / heads);
	const resident = runtime.resident(weights);
	const compiled = programs(
		runtime,
		(shape: PassShape) => inferenceGraph(runtime.target, config, weights, shape),
		{ keyText: JSON.stringify, most: mostPrograms },
	);

	/** The memory of `count` patients from `first`, in `rows` rows. */
	const memoryOf = (state: State, first: number, count: number, rows: number): Float32Array => {
		const block = new Float32Array(layers * rows * width);
		for (let l = 0; l < layers; l++) {
			const from = (l * state.patients + first) * width;
			block.set(state.memory.subarray(from, from + count * width), l * rows * width);
		}
		return block;
	};

	async function run(
		state: State,
		events: readonly Events[] | undefined,
		times: readonly ArrayLike<number>[] | undefined,
		keep: boolean,
	): Promise<{ state: State; answers: Answers }> {
		const { patients } = state;
		const questions = checkLists(patients, events, times);
		const remembers = keep && events !== undefined;
		const after: State = {
			patients,
			tokens: state.tokens.slice(),
			times: state.times.slice(),
			memory: remembers ? new Float32Array(layers * patients * width) : state.memory,
		};
		const logProbabilities = new Float32Array(patients * questions * vocab);
		for (let first = 0; first < patients; first += most) {
			const count = Math.min(most, patients - first);
			const rows = powerOfTwo(count);
			const total = Math.max(
				0,
				...(events ?? []).slice(first, first + count).map((e) => e.tokens.length),
			);
			const fresh = state.memory.length === 0 && total > 0;
			let memory = fresh ? undefined : memoryOf(state, first, count, rows);
			for (const pass of passesOver(total, questions)) {
				const { feeds, ragged } = passFeeds(after, events, times, vocab, {
					...pass,
					first,
					count,
					rows,
				});
				const outputs = await compiled.run(
					{
						rows,
						slots: pass.slots,
						questions: pass.questions,
						ragged,
						fresh: memory === undefined,
						keep: pass.slots > 0 && (remembers || !pass.last),
					},
					{ ...feeds, ...(memory && { states: memory }) },
					resident,
				);
				memory = (outputs.newStates as Float32Array | undefined) ?? memory;
				for (let row = 0; row < count && outputs.answers; row++) {
					const from = row * pass.questions * vocab;
					const answers = (outputs.answers as Float32Array).subarray(
						from,
						from + pass.asked * vocab,
					);
					logProbabilities.set(answers, ((first + row) * questions + pass.question) * vocab);
				}
			}
			if (remembers && memory)
				for (let l = 0; l < layers; l++)
					after.memory.set(
						memory.subarray(l * rows * width, (l * rows + count) * width),
						(l * patients + first) * width,
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

interface Stretch {
	readonly from: number;
	readonly slots: number;
	/** The first question, how many, and for how many the pass has room. */
	readonly question: number;
	readonly asked: number;
	readonly questions: number;
	readonly last: boolean;
}

/** All events in passes of at most `longest`; the questions with the last of them, or after it. */
function passesOver(events: number, questions: number): Stretch[] {
	const passes: Stretch[] = [];
	for (let from = 0; from < events; from += longest) {
		const asked = from + longest >= events ? Math.min(questions, mostQuestions) : 0;
		const slots = rounded(Math.min(longest, events - from));
		passes.push({ from, slots, question: 0, asked, questions: rounded(asked), last: false });
	}
	for (let at = passes.at(-1)?.asked ?? 0; at < questions; at += mostQuestions) {
		const asked = Math.min(questions - at, mostQuestions);
		passes.push({
			from: events,
			slots: 0,
			question: at,
			asked,
			questions: rounded(asked),
			last: false,
		});
	}
	return passes.map((pass, i) => ({ ...pass, last: i === passes.length - 1 }));
}

/** Checks that there is a list for every patient; gives the number of questions each is asked. */
function checkLists(
	patients: number,
	events: readonly Events[] | undefined,
	times: readonly ArrayLike<number>[] | undefined,
): number {
	for (const [name, list] of Object.entries({ events, times }))
		if (list && list.length !== patients)
			throw new InputError(`${name} of ${list.length} patients for a state of ${patients}`);
	for (const [patient, own] of (events ?? []).entries())
		if (own.tokens.length !== own.times.length)
			throw new InputError(
				`patient ${patient} has ${own.tokens.length} tokens and ${own.times.length} times; give as many`,
			);
	const questions = times?.[0]?.length ?? 0;
	if (times?.some((t) => t.length !== questions))
		throw new InputError("ask every patient about as many times");
	return questions;
}
