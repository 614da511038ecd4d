import { thousands } from "../../base/thousands.js";
import { monthDays, type TimeAxis, yearDays } from "../../base/time.js";
import type { NewPatient } from "../../data/cohort/index.js";
import { UnusableTimeError } from "./errors.js";
import { type Moment, momentOf, timesOf } from "./moments.js";

export interface GridOptions {
	readonly from?: Moment;
	readonly to?: Moment;
	/** In days. */
	readonly step?: number;
}

/** Steps that people think in, in days. */
const usualSteps = [1, 7, 14, monthDays, yearDays / 4, yearDays / 2, yearDays];
/** As many times as a drawing can show. */
const enough = 250;
const mostTimes = 20_000;

const usualEnd = momentOf("+0d");

/**
 * Equal steps, by default from the first event to the last record, which is the last time then. Messages call
 * the options as `named` does.
 */
export function timeGrid(
	patient: NewPatient,
	axis: TimeAxis,
	options: GridOptions,
	named: (option: keyof GridOptions) => string = (option) => `\`${option}\``,
): Float64Array {
	const timeOf = (moment: Moment, option: keyof GridOptions) =>
		timesOf([moment], [patient], axis, named(option))[0]?.[0] as number;
	const { times, birthEvents } = patient.history;
	const from = options.from ? timeOf(options.from, "from") : (times[birthEvents] as number);
	const to = timeOf(options.to ?? usualEnd, "to");
	if (from > to)
		throw new UnusableTimeError(
			`${named("from")} ${options.from?.text ?? "(the first event)"} lies after ${named("to")} ${options.to?.text ?? "(the last record)"}; exchange them, or leave one out`,
			`lies after ${named("to")}; exchange them, or leave one out`,
			named("from"),
		);
	const step = options.step ?? usualStep(to - from);
	const count = 1 + Math.floor((to - from) / step + 1e-9);
	if (count > mostTimes) {
		const problem = `makes ${thousands(count)} times; expected at most ${thousands(mostTimes)}: choose a longer one, or a shorter time`;
		throw new UnusableTimeError(`${named("step")} ${problem}`, problem, named("step"));
	}
	const grid = Array.from({ length: count }, (_, at) => from + at * step);
	if (options.to === undefined && (grid.at(-1) as number) < to) grid.push(to);
	return Float64Array.from(grid);
}

function usualStep(days: number): number {
	return usualSteps.find((step) => days / step <= enough) ?? days / enough;
}
