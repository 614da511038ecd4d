import { roundLength } from "../../cohort/buckets.js";
import { specialTokens } from "../../cohort/vocabulary.js";
import { logSoftmax, parameter, type Tensor } from "../../graph/index.js";
import { programs, type Runtime } from "../../runtime/index.js";
import type { Parameters, ParameterValues } from "../model.js";
import type { Answers, Events, Predictor, State } from "../predictor.js";
import {
	checkEvents,
	checkLists,
	type Question,
	questionsAfter,
	questionsAlong,
} from "../questions.js";
import {
	type Asked,
	askedInputs,
	emptyRows,
	type Observed,
	observedInputs,
	type Seen,
} from "./observed.js";

/** How a model that has no state of its own is asked. */
export interface HistoryAnswers {
	readonly vocab: number;
	readonly padding: "before" | "after";
	/** Places a row has: always so many, or at most so many; the last events are seen. */
	readonly places: { readonly always?: number; readonly most?: number };
	/**
	 * Questions that are answered at once, where the number is fixed. More are asked in parts or, where
	 * answers are those of the events ahead in order, get the last of them.
	 */
	readonly questions?: number;
	/** Without it the answer is one, whatever the time asked about. */
	readonly knowsTimes: boolean;
	logits(parameters: Parameters, observed: Observed, asked: Asked): Tensor; // [rows, questions or 1, vocab]
	/** What else the graph is fed. */
	more?(seen: readonly Seen[], places: number): Readonly<Record<string, Int32Array>>;
}

/** Most places, questions included, in a pass, and shapes of passes that stay compiled. */
const mostPlaces = 4096;
const mostPrograms = 24;

/** What to ask after which events. */
interface Row {
	readonly events: Events;
	readonly times: readonly number[];
	/** Where each answer goes. */
	readonly to: readonly number[];
}

interface PassShape {
	readonly rows: number;
	readonly places: number;
	readonly questions: number;
}

const powerOfTwo = (n: number) => 2 ** Math.ceil(Math.log2(Math.max(1, n)));

/**
 * Answers from whole histories. The state is the history itself: observing costs nothing, and every
 * question reads all of it again.
 */
export function historyPredictor(
	runtime: Runtime,
	weights: ParameterValues,
	how: HistoryAnswers,
): Predictor {
	const { vocab, padding } = how;
	const symbols = Object.fromEntries(
		[...weights].map(([name, { shape }]) => [name, parameter(name, shape)]),
	);
	const resident = runtime.resident(weights);
	const compiled = programs(
		runtime,
		({ rows, places, questions }: PassShape) => {
			const logits = how.logits(
				symbols,
				observedInputs("seen", rows, places, "float32"),
				askedInputs("seen", rows, questions, "float32"),
			);
			return { outputs: { answers: logSoftmax(logits) } };
		},
		{ keyText: JSON.stringify, most: mostPrograms },
	);

	const placesOf = ({ events }: Row) =>
		how.places.always ??
		Math.min(roundLength(events.tokens.length + 1), how.places.most ?? Number.POSITIVE_INFINITY);
	const questionsOf = ({ times }: Row) => {
		if (!how.knowsTimes && how.questions === undefined) return 1;
		return how.questions ?? powerOfTwo(times.length);
	};

	/** Rows that ask no more than is answered at once: more is asked again, of the same history. */
	const answerable = (row: Row): Row[] => {
		const { questions: most } = how;
		if (!how.knowsTimes || most === undefined || row.times.length <= most) return [row];
		return Array.from({ length: Math.ceil(row.times.length / most) }, (_, part) => ({
			...row,
			times: row.times.slice(part * most, (part + 1) * most),
			to: row.to.slice(part * most, (part + 1) * most),
		}));
	};

	async function answer(rows: readonly Row[], into: Float32Array): Promise<void> {
		const left = rows
			.flatMap(answerable)
			.sort((a, b) => placesOf(b) - placesOf(a) || questionsOf(b) - questionsOf(a));
		while (left.length > 0) {
			const first = left[0] as Row;
			const places = placesOf(first);
			const room = powerOfTwo(mostPlaces / (places + questionsOf(first)));
			const some = left.splice(0, Math.max(1, room));
			const questions = Math.max(...some.map(questionsOf));
			const shape = { rows: powerOfTwo(some.length), places, questions };
			const fed = emptyRows("seen", { ...shape, padding });
			const seen: Seen[] = [];
			for (let row = 0; row < shape.rows; row++) {
				const { events, times } = some[row] ?? first;
				const own = fed.see(row, events, events.times[0] ?? times[0] ?? 0);
				seen.push(own);
				for (let i = 0; i < questions; i++)
					fed.ask(row, i, times[Math.min(i, times.length - 1)] as number, own);
			}
			const outputs = await compiled.run(
				shape,
				{ ...fed.feeds, ...how.more?.(seen, places) },
				resident,
			);
			const answers = outputs.answers as Float32Array;
			const each = answers.length / (shape.rows * vocab);
			for (const [row, { to }] of some.entries())
				for (const [i, place] of to.entries()) {
					const from = (row * each + Math.min(i, each - 1)) * vocab;
					into.set(answers.subarray(from, from + vocab), place * vocab);
				}
		}
	}

	const start = (patients: number): State =>
		stateOf(Array.from({ length: patients }, () => ({ tokens: [], times: [] })));

	/** Histories so far, with further events. */
	const grown = (state: State, events?: readonly Events[]): Events[] =>
		Array.from({ length: state.patients }, (_, patient) => {
			const past = historyOf(state, patient);
			const more = events?.[patient];
			return {
				tokens: [...Array.from(past.tokens), ...Array.from(more?.tokens ?? [])],
				times: [...Array.from(past.times), ...Array.from(more?.times ?? [])],
			};
		});

	/** Answers to questions that follow so many events of those that came after the state. */
	async function answersTo(
		state: State,
		events: readonly Events[] | undefined,
		questions: readonly (readonly Question[])[],
	): Promise<Answers> {
		const most = questions[0]?.length ?? 0;
		const logProbabilities = new Float32Array(state.patients * most * vocab);
		const rows = grown(state, events).flatMap(({ tokens, times }, patient): Row[] => {
			const before = historyOf(state, patient).tokens.length;
			// One that looks back from the first event knows of none.
			const knownTo = ({ place, gap }: Question) => (gap < 0 ? 0 : before + place);
			const own = questions[patient] ?? [];
			return [...new Set(own.map(knownTo))].map((known) => {
				const asked = own.filter((question) => knownTo(question) === known);
				return {
					events: {
						tokens: Array.from(tokens).slice(0, known),
						times: Array.from(times).slice(0, known),
					},
					times: asked.map(({ time }) => time),
					to: asked.map(({ index }) => patient * most + index),
				};
			});
		});
		await answer(rows, logProbabilities);
		return { patients: state.patients, questions: most, vocab, logProbabilities };
	}

	const observe = (state: State, events: readonly Events[]): State => {
		checkLists(state.patients, { events });
		checkEvents(state, events, vocab);
		return stateOf(grown(state, events));
	};
	const ask = (state: State, times: readonly ArrayLike<number>[]): Promise<Answers> => {
		checkLists(state.patients, { times });
		return answersTo(state, undefined, questionsAfter(state, undefined, times));
	};

	return {
		vocab,
		start,
		select: (state, patients) => stateOf(patients.map((patient) => historyOf(state, patient))),
		observe: async (state, events) => observe(state, events),
		ask,
		async advance(state, events, times) {
			const now = observe(state, events);
			return { state: now, answers: await ask(now, times) };
		},
		score: (events, times) => ask(observe(start(events.length), events), times),
		async queryWithin(state, events, times) {
			checkLists(state.patients, { events, times });
			checkEvents(state, events, vocab);
			return answersTo(state, events, questionsAlong(state, events, times));
		},
		async dispose() {
			resident.dispose();
			await compiled.dispose();
		},
	};
}

/** Histories side by side, each in a row as long as the longest. */
function stateOf(histories: readonly Events[]): State {
	const patients = histories.length;
	const width = Math.max(0, ...histories.map(({ tokens }) => tokens.length));
	const tokens = new Int32Array(patients * width);
	const times = new Float64Array(patients * width);
	for (const [patient, own] of histories.entries()) {
		tokens.set(Array.from(own.tokens), patient * width);
		times.set(Array.from(own.times), patient * width);
	}
	const last = <T>(values: ArrayLike<number>, before: T) => values[values.length - 1] ?? before;
	return {
		patients,
		tokens: Int32Array.from(histories, (own) => last(own.tokens, specialTokens.sos)),
		times: Float64Array.from(histories, (own) => last(own.times, Number.NaN)),
		memory: { tokens, times, lengths: Int32Array.from(histories, (own) => own.tokens.length) },
	};
}

function historyOf({ memory, patients }: State, patient: number): Events {
	const { tokens, times, lengths } = memory;
	const width = (tokens?.length ?? 0) / patients;
	const [from, to] = [patient * width, patient * width + (lengths?.[patient] ?? 0)];
	return { tokens: tokens?.subarray(from, to) ?? [], times: times?.subarray(from, to) ?? [] };
}
