import { thousands } from "../../base/thousands.js";
import { monthDays, yearDays } from "../../base/time.js";
import { QuestionError, UnusableInputError } from "./errors.js";
import {
	lastRecord,
	momentOf,
	readSpan,
	readTime,
	type SpanInput,
	type Timed,
	type TimeInput,
} from "./moments.js";

export interface GridOptions {
	readonly from?: TimeInput | undefined;
	readonly to?: TimeInput | undefined;
	readonly step?: SpanInput | undefined;
}

/** Steps that people think in, in days. */
const usualSteps = [1, 7, 14, monthDays, yearDays / 4, yearDays / 2, yearDays];
/** As many times as a drawing can show. */
const enough = 250;
const mostTimes = 20_000;

/** Equal steps, by default from the first event to the last record, which is the last time then. */
export function timeGrid(timed: Timed, options: GridOptions): Float64Array {
	const { times, birthEvents } = timed.patient.history;
	const first = times[birthEvents];
	const from = options.from === undefined ? first : readTime(options.from, timed, "from");
	const to = readTime(options.to ?? lastRecord, timed, "to");
	if (from > to) {
		const written = (time: TimeInput | undefined, usual: string) =>
			time === undefined ? usual : momentOf(time).text;
		const unusable = new UnusableInputError(
			`\`from\` ${written(options.from, "(the first event)")} lies after \`to\` ${written(options.to, "(the last record)")}; exchange them, or leave one out`,
			"lies after to; exchange them, or leave one out",
			"from",
		);
		throw new QuestionError(unusable, "from");
	}
	const step = options.step === undefined ? usualStep(to - from) : readSpan(options.step, "step");
	const count = 1 + Math.floor((to - from) / step + 1e-9);
	if (count > mostTimes) {
		const problem = `makes ${thousands(count)} times; expected at most ${thousands(mostTimes)}: choose a longer one, or a shorter time`;
		const unusable = new UnusableInputError(`\`step\` ${problem}`, problem, "step");
		throw new QuestionError(unusable, "step");
	}
	const grid = Array.from({ length: count }, (_, at) => from + at * step);
	if (options.to === undefined && (grid.at(-1) as number) < to) grid.push(to);
	return Float64Array.from(grid);
}

function usualStep(days: number): number {
	return usualSteps.find((step) => days / step <= enough) ?? days / enough;
}
