import type { Progress } from "../../base/progress.js";
import { startThreads } from "../../engine/runtime/threads.js";
import { type BootstrapOptions, type Drawn, patientDraws } from "../bootstrap.js";
import { type FollowUp, sortFollowUp } from "../survival/follow-up.js";
import { type DrawTable, lanes, type ScoresByDraw, scoreDraws } from "../survival/score-draws.js";

/** A code at a horizon, with the risks that each row predicts, by entry. */
export interface CodeToScore {
	readonly followUp: FollowUp;
	readonly days: number;
	readonly risks: readonly ArrayLike<number>[];
}

/** Everybody once, and then the draws of the bootstrap. */
export function drawTable(patients: number, options: BootstrapOptions): DrawTable {
	const draws = options.draws + 1;
	const blocks = Math.ceil(draws / lanes);
	const counts = new Uint8Array(new SharedArrayBuffer(blocks * patients * lanes));
	const set = (draw: number, weights: ArrayLike<number>) => {
		const start = Math.floor(draw / lanes) * patients * lanes + (draw % lanes);
		for (let patient = 0; patient < patients; patient++)
			counts[start + patient * lanes] = weights[patient];
	};
	set(0, new Uint8Array(patients).fill(1));
	let draw = 1;
	for (const weights of patientDraws(patients, options)) set(draw++, weights);
	return { patients, draws, counts };
}

/** A statistic of patients on everybody and on each draw; null if it is undefined on everybody. */
export function onEveryDraw(
	{ patients, draws, counts }: DrawTable,
	statistic: (weights: Uint8Array) => number | null,
): Drawn | null {
	const weights = new Uint8Array(patients);
	const values = Float64Array.from({ length: draws }, (_, draw) => {
		const start = Math.floor(draw / lanes) * patients * lanes + (draw % lanes);
		for (let patient = 0; patient < patients; patient++)
			weights[patient] = counts[start + patient * lanes];
		return statistic(weights) ?? Number.NaN;
	});
	return drawnOf(values);
}

/** The scores of every row of predictions of a code, on every draw. */
export const scoreCode =
	(table: DrawTable) =>
	({ followUp, days, risks }: CodeToScore): ScoresByDraw[] =>
		scoreDraws(sortFollowUp(followUp), days, risks, table);

/** Entries times rows times draws for which another thread is worth its start. */
const leastPerThread = 2e8;
/** Codes that wait for a thread, so that it is never idle: more would take memory. */
const codesAhead = 2;

interface ScoringOptions {
	readonly label: string;
	readonly threads?: number | undefined;
	readonly progress?: Progress | undefined;
}

/**
 * Scores codes one after the other, in threads if there is much to do. Nothing is kept of a code once `take` has had its
 * scores; `take` gets the codes in their order.
 */
export async function scoreCodes(
	codes: readonly (() => CodeToScore)[],
	entries: number,
	table: DrawTable,
	{ label, threads = 1, progress }: ScoringOptions,
	take: (scores: readonly ScoresByDraw[], code: number) => void,
): Promise<void> {
	const count = Math.min(threads, Math.floor((entries * table.draws) / leastPerThread));
	const { score, end } = count > 1 ? scoringThreads(table, count) : scoringHere(table);
	const waiting: Promise<ScoresByDraw[]>[] = [];
	try {
		for (const code of codes.keys()) {
			for (let next = code + waiting.length; next < codes.length; next++) {
				if (waiting.length >= Math.max(1, count * codesAhead)) break;
				waiting.push(score((codes[next] as () => CodeToScore)()));
			}
			take((await waiting.shift()) as ScoresByDraw[], code);
			progress?.update({ label, done: code + 1, total: codes.length });
		}
	} finally {
		await end();
	}
}

function scoringHere(table: DrawTable) {
	const score = scoreCode(table);
	return { score: async (code: CodeToScore) => score(code), end: async () => {} };
}

function scoringThreads(table: DrawTable, count: number) {
	const { call, end } = startThreads(new URL("./scoring-thread.js", import.meta.url), {
		count,
		workerData: table,
		work: "scores codes",
	});
	return { score: (code: CodeToScore) => call("score", [code]) as Promise<ScoresByDraw[]>, end };
}

type ScoreName = keyof ScoresByDraw;

/** Measures over codes: sums of a score divided by sums of another, or by the number of codes. */
const ratios = {
	logLoss: ["nats", "observedOnsets"],
	auroc: ["auroc"],
	averagePrecision: ["averagePrecision"],
	/** 1 minus this is the skill. */
	brier: ["squaredError", "incidenceError"],
	observedToExpected: ["observedOnsets", "expectedOnsets"],
} as const satisfies Readonly<Record<string, readonly [ScoreName, ScoreName?]>>;
export type Ratio = keyof typeof ratios;

/** A ratio of a code on everybody and on each draw; a code or a draw without it has null or NaN. */
export function ofCode(scores: ScoresByDraw, ratio: Ratio): Drawn | null {
	const [part, total] = ratios[ratio] as readonly [ScoreName, ScoreName?];
	const values = scores[part].map((value, draw) => (total ? value / scores[total][draw] : value));
	return drawnOf(values);
}

const drawnOf = (values: Float64Array): Drawn | null =>
	Number.isFinite(values[0]) ? { value: values[0], drawn: values.subarray(1) } : null;

/** Adds up the scores of codes by row, draw by draw. Codes that are undefined on a draw are left out of it. */
export function codeSums(rows: number, draws: number) {
	const sums = Array.from({ length: rows }, () =>
		Object.fromEntries(
			Object.keys(ratios).map((ratio) => [
				ratio,
				{ parts: new Float64Array(draws + 1), totals: new Float64Array(draws + 1) },
			]),
		),
	);
	return {
		add(scores: readonly ScoresByDraw[]): void {
			for (const [row, ofRow] of scores.entries())
				for (const [ratio, [part, total]] of Object.entries<readonly [ScoreName, ScoreName?]>(
					ratios,
				)) {
					const { parts, totals } = sums[row][ratio];
					for (let draw = 0; draw <= draws; draw++) {
						const value = ofRow[part][draw];
						const divisor = total ? ofRow[total][draw] : 1;
						if (Number.isNaN(value + divisor)) continue;
						parts[draw] += value;
						totals[draw] += divisor;
					}
				}
		},
		/** Null if it is undefined on everybody. */
		ratio(row: number, ratio: Ratio): Drawn | null {
			const { parts, totals } = sums[row][ratio];
			return drawnOf(
				parts.map((part, draw) => (totals[draw] > 0 ? part / totals[draw] : Number.NaN)),
			);
		},
	};
}
