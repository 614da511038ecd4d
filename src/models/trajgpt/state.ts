import { specialTokens } from "../../cohort/vocabulary.js";
import { type Data, programs, type Runtime } from "../../runtime/index.js";
import type { ParameterValues } from "../model.js";
import type { Events, Predictions, Predictor, State } from "../predictor.js";
import { checkEvents, checkLists, type Query, queriesAfter, queriesWithin } from "../queries.js";
import type { TrajgptConfig } from "./config.js";
import { after, inferenceGraph, type PassShape, seenPart, stateOf } from "./inference-graph.js";
import { type GraphShape, opened, sizesOfPass } from "./open-shape.js";
import {
	fewShapes,
	noPadding,
	passesOver,
	passFeeds,
	type Row,
	rowsOfPass,
	withAngles,
} from "./passes.js";
import { slotAnswers } from "./slot-answers.js";

/** Shapes of passes that stay compiled. */
const mostPrograms = 24;
/** Kinds of passes of open sizes that do: each holds all weights. */
const mostOpenPrograms = 8;

const none: Events = { tokens: [], times: [] };

type Memories = Pick<State, "memory" | "patients">;

const unbegun = ({ memory }: State): boolean => Object.keys(memory).length === 0;

/** What is remembered of patients: in each part, so many numbers of each of them. */
function memoryParts({ layers, heads, key, value, copies, vocab, position }: TrajgptConfig) {
	const width = heads * (key / heads) * (value / heads);
	return [
		...Array.from({ length: layers }, (_, layer) => ({ name: stateOf(layer), width })),
		...(copies > 0 ? [{ name: "counts", width: copies * vocab }] : []),
		...(position === "absolute" ? [{ name: seenPart, width: 1 }] : []),
	];
}

export function predictor(
	runtime: Runtime,
	config: TrajgptConfig,
	weights: ParameterValues,
): Predictor {
	const { vocab } = config;
	const portable = runtime.target === "portable";
	const parts = memoryParts(config);
	// Absolute positions are counted by a constant, whose size must be known.
	const open = runtime.opensSizes === true && config.position === "time";
	// Programs of open sizes have the weights in them.
	const resident = open ? undefined : runtime.resident(weights);
	const padding = open ? noPadding : fewShapes;
	const compiled = programs(
		runtime,
		(shape: GraphShape) => inferenceGraph(runtime.target, config, weights, shape),
		{ keyText: JSON.stringify, most: open ? mostOpenPrograms : mostPrograms },
	);

	/** Copies patients' memories: the i-th goes from place from[i] to place to[i]. */
	const copyMemory = (
		source: Memories,
		from: readonly number[],
		target: Memories,
		to: readonly number[],
	) => {
		for (const { name, width } of parts)
			for (const [i, own] of from.entries()) {
				const memory = source.memory[name]?.subarray(own * width, (own + 1) * width) ?? [];
				target.memory[name]?.set(memory, (to[i] as number) * width);
			}
	};
	const emptyMemory = (patients: number): Memories => ({
		memory: Object.fromEntries(
			parts.map(({ name, width }) => [name, new Float32Array(patients * width)]),
		),
		patients,
	});
	/** The memory that a pass has put out, if it was asked to. */
	const moved = (outputs: Readonly<Record<string, Data>>): State["memory"] | undefined =>
		outputs[after(stateOf(0))] &&
		Object.fromEntries(parts.map(({ name }) => [name, outputs[after(name)] as Float32Array]));

	/** The state after the events, and answers; `asked` is a list of questions for each patient. */
	async function run(
		state: State,
		events: readonly Events[] | undefined,
		asked: readonly (readonly Query[])[] | undefined,
		keep: boolean,
	): Promise<{ state: State; predictions: Predictions }> {
		const { patients } = state;
		const queries = asked?.[0]?.length ?? 0;
		const remembers = keep && events !== undefined;
		let kept = remembers ? undefined : state.memory;
		const logProbabilities = new Float32Array(patients * queries * vocab);
		const left = Array.from({ length: patients }, (_, patient): Row => {
			return { patient, events: events?.[patient] ?? none, questions: asked?.[patient] ?? [] };
		});
		// Patients of like length go together.
		left.sort((a, b) => b.events.times.length - a.events.times.length);
		while (left.length > 0) {
			const rows = left.splice(0, rowsOfPass(left, padding));
			const paddedRows = padding.rows(rows.length);
			const who = rows.map(({ patient }) => patient);
			const places = [...rows.keys()];
			// Where the rows are all patients in order, nothing needs to be copied.
			const whole = paddedRows === patients && who.every((patient, row) => patient === row);
			// What is observed goes on from here, with the same program, so it starts from zeros.
			const fresh =
				!open && unbegun(state) && !remembers && (rows[0] as Row).events.times.length > 0;
			let memory: State["memory"] | undefined;
			if (!fresh && whole && !unbegun(state)) memory = state.memory;
			else if (!fresh) {
				const own = emptyMemory(paddedRows);
				if (!unbegun(state)) copyMemory(state, who, own, places);
				memory = own.memory;
			}
			const all = passesOver(rows, padding);
			const asks = all.findLastIndex(({ questions }) => questions > 0);
			// What follows the last question matters to nobody but the memory.
			const passes = remembers ? all : all.slice(0, asks + 1);
			for (const [at, pass] of passes.entries()) {
				const bySlots =
					open && pass.slots > 1 && pass.questions > 0
						? slotAnswers(rows, paddedRows, pass)
						: undefined;
				const { put = pass.asked, count = pass.questions } = bySlots ?? {};
				const asked = { ...pass, asked: put, questions: count };
				const { feeds, ...made } = passFeeds(state, rows, paddedRows, asked);
				const shape: PassShape = {
					...made,
					rows: paddedRows,
					slots: pass.slots,
					questions: count,
					answers: bySlots ? pass.questions : 0,
					fresh: memory === undefined,
					keep: pass.slots > 0 && !pass.again && (remembers || at < passes.length - 1),
				};
				const outputs = await compiled.run(
					open ? opened(shape) : shape,
					{ ...(portable ? withAngles(config, feeds) : feeds), ...bySlots?.feeds, ...memory },
					resident,
					{ sizes: sizesOfPass(shape) },
				);
				memory = moved(outputs) ?? memory;
				const answers = outputs.answers as Float32Array | undefined;
				for (const [row, patient] of who.entries())
					for (const [i, { index }] of (pass.asked[row] ?? []).entries()) {
						const from = (row * pass.questions + i) * vocab;
						const answer = answers?.subarray(from, from + vocab) ?? [];
						logProbabilities.set(answer, (patient * queries + index) * vocab);
					}
			}
			if (!remembers || !memory) continue;
			if (whole) kept = memory;
			else {
				kept ??= emptyMemory(patients).memory;
				copyMemory({ memory, patients: paddedRows }, places, { memory: kept, patients }, who);
			}
		}
		const last = <T extends "tokens" | "times">(field: T, patient: number) => {
			const own = events?.[patient]?.[field];
			return (own && own.length > 0 ? own[own.length - 1] : state[field][patient]) as number;
		};
		const now: State = {
			patients,
			tokens: state.tokens.map((_, patient) => last("tokens", patient)),
			times: state.times.map((_, patient) => last("times", patient)),
			memory: kept ?? state.memory,
		};
		return { state: now, predictions: { patients, queries, vocab, logProbabilities } };
	}

	const start = (patients: number): State => ({
		patients,
		tokens: new Int32Array(patients).fill(specialTokens.sos),
		times: new Float64Array(patients).fill(Number.NaN),
		memory: {},
	});

	/** Observes with questions, after checking both. */
	const asking = (
		state: State,
		events: readonly Events[],
		times: readonly ArrayLike<number>[],
		{ keep, questions }: { readonly keep: boolean; readonly questions: typeof queriesWithin },
	) => {
		checkLists(state.patients, { events, times });
		checkEvents(state, events, vocab);
		return run(state, events, questions(state, events, times), keep);
	};
	const afterAll = { keep: false, questions: queriesAfter };
	const onTheWay = { keep: false, questions: queriesWithin };

	return {
		vocab,
		start,
		select(state, patients) {
			const memories = emptyMemory(patients.length);
			if (!unbegun(state)) copyMemory(state, patients, memories, [...patients.keys()]);
			return {
				patients: patients.length,
				tokens: Int32Array.from(patients, (patient) => state.tokens[patient] as number),
				times: Float64Array.from(patients, (patient) => state.times[patient] as number),
				memory: unbegun(state) ? state.memory : memories.memory,
			};
		},
		async observe(state, events) {
			checkLists(state.patients, { events });
			checkEvents(state, events, vocab);
			return (await run(state, events, undefined, true)).state;
		},
		async query(state, times) {
			checkLists(state.patients, { times });
			return (await run(state, undefined, queriesAfter(state, undefined, times), false))
				.predictions;
		},
		advance: async (state, events, times) =>
			asking(state, events, times, { ...afterAll, keep: true }),
		score: async (events, times) =>
			(await asking(start(events.length), events, times, afterAll)).predictions,
		queryWithin: async (state, events, times) =>
			(await asking(state, events, times, onTheWay)).predictions,
		async dispose() {
			resident?.dispose();
			await compiled.dispose();
		},
	};
}
