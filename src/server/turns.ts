import type { Answers, Events, Predictor } from "../models/index.js";
import type { Engine } from "./engine/engine.js";
import { Refusal } from "./http/refusal.js";

/**
 * Requests of like size that one pass takes. Of preset paper, 112 events, a thread answers 25 a second one by
 * one, 26 by twos and 27 by fours; but by fours, whoever just missed a pass waits for all of it.
 */
const together = 2;
/** How long a request waits for those who were just answered and mostly ask again, in ms. */
const linger = 10;

/** Work that is done one after the other, on as many sides as the engine has. */
export interface Turns {
	/**
	 * The engine's predictor, whose calls wait for their turn. Questions about whole histories of like
	 * length are taken together, from whichever request. What a request that was given up still
	 * has to ask is not asked.
	 */
	predictor(signal: AbortSignal): Predictor;
	/** Waits for a turn to do something else. */
	take<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T>;
	/** Calls that wait. */
	readonly waiting: number;
	/** So far: turns taken, and calls that were made in them. */
	readonly counts: { readonly turns: number; readonly calls: number };
}

interface Waiting {
	readonly signal: AbortSignal;
	/** What it may be taken together with; undefined: nothing. */
	readonly like: string | undefined;
	work(): Promise<void>;
	reject(error: unknown): void;
}

interface Question extends Waiting {
	readonly history: Events;
	readonly times: readonly number[];
	resolve(answers: Answers): void;
}

/** Room for the questions of a history: few sizes, as each compiles anew. */
const roomForTimes = (count: number) => 4 ** Math.ceil(Math.log2(Math.max(1, count)) / 2);
/** Histories of like length: an eighth of a power of two apart at most. */
const lengthClass = (events: number) => Math.ceil(8 * Math.log2(Math.max(1, events)));

export function turns(
	{ predictor, width }: Pick<Engine, "predictor" | "width">,
	most: number,
): Turns {
	let queue: Waiting[] = [];
	let running = 0;
	/** Who was answered a moment ago and has not asked again. */
	let expected = 0;
	const counts = { turns: 0, calls: 0 };

	const leave = (gone: readonly Waiting[]) => {
		queue = queue.filter((waiting) => !gone.includes(waiting));
	};

	function nextTurn(): readonly Waiting[] | undefined {
		for (const first of queue) {
			if (first.like === undefined) return [first];
			const alike = queue.filter(({ like }) => like === first.like).slice(0, together);
			if (alike.length === together) return alike;
			// Those who come back would make it full.
			if (alike.length + expected < together) return [first];
		}
		return undefined;
	}

	function pump(): void {
		while (running < width) {
			const turn = nextTurn();
			if (!turn) break;
			leave(turn);
			running++;
			counts.turns++;
			counts.calls += turn.length;
			const work = turn.length > 1 ? askTogether(turn as Question[]) : (turn[0] as Waiting).work();
			work
				.catch((error) => {
					for (const { reject } of turn) reject(error);
				})
				.finally(() => {
					running--;
					expectAgain(turn.length);
					pump();
				});
		}
	}

	function expectAgain(count: number): void {
		expected += count;
		setTimeout(() => {
			expected = Math.max(0, expected - count);
			pump();
		}, linger);
	}

	const ask = (questions: readonly { history: Events; times: readonly number[] }[]) => {
		const room = roomForTimes(questions[0]?.times.length ?? 0);
		return predictor.along(
			predictor.start(questions.length),
			questions.map(({ history }) => history),
			// The last time again, up to the room: its answers are not looked at.
			questions.map(({ times }) =>
				Array.from({ length: room }, (_, i) => times[Math.min(i, times.length - 1)] as number),
			),
		);
	};
	const part = ({ questions, vocab, logProbabilities }: Answers, row: number, count: number) => {
		const from = row * questions * vocab;
		return {
			...{ patients: 1, questions: count, vocab },
			logProbabilities: logProbabilities.slice(from, from + count * vocab),
		};
	};
	async function askTogether(all: readonly Question[]): Promise<void> {
		let answers: Answers;
		try {
			answers = await ask(all);
		} catch {
			// One of them spoils it, and only that one should hear of it.
			for (const { work, reject } of all) await work().catch(reject);
			return;
		}
		for (const [row, { times, resolve }] of all.entries())
			resolve(part(answers, row, times.length));
	}

	function wait<T>(
		signal: AbortSignal,
		waiting: (resolve: (value: T) => void) => Pick<Waiting, "like" | "work">,
	): Promise<T> {
		return new Promise((resolve, reject) => {
			if (signal.aborted) return reject(signal.reason);
			if (queue.length >= most)
				return reject(
					new Refusal(503, `${most} calls wait already; try again in a moment`, { retry: 1 }),
				);
			const given = () => {
				leave([own]);
				reject(signal.reason);
			};
			const settle = () => signal.removeEventListener("abort", given);
			const own: Waiting = {
				signal,
				...waiting((value) => {
					settle();
					resolve(value);
				}),
				reject: (error) => {
					settle();
					reject(error);
				},
			};
			signal.addEventListener("abort", given, { once: true });
			queue.push(own);
			expected = Math.max(0, expected - 1);
			pump();
		});
	}

	const take = <T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> =>
		wait<T>(signal, (resolve) => ({
			like: undefined,
			work: async () => resolve(await work()),
		}));

	const askAbout = (signal: AbortSignal, history: Events, times: readonly number[]) =>
		wait<Answers>(signal, (resolve) => {
			const question = {
				...{ history, times, resolve },
				like: `${lengthClass(history.times.length)}/${roomForTimes(times.length)}`,
				work: async () => resolve(part(await ask([question]), 0, times.length)),
			};
			return question;
		});

	return {
		counts,
		take,
		get waiting() {
			return queue.length;
		},
		predictor: (signal) => ({
			...predictor,
			observe: (...args) => take(signal, () => predictor.observe(...args)),
			ask: (...args) => take(signal, () => predictor.ask(...args)),
			advance: (...args) => take(signal, () => predictor.advance(...args)),
			score: (...args) => take(signal, () => predictor.score(...args)),
			along(state, events, times) {
				const [history] = events;
				const asked = times[0];
				const isWhole = state.patients === 1 && Object.keys(state.memory).length === 0;
				if (isWhole && Number.isNaN(state.times[0]) && history && asked && asked.length > 0)
					return askAbout(signal, history, Array.from(asked));
				return take(signal, () => predictor.along(state, events, times));
			},
		}),
	};
}
