import { InputError } from "../../base/errors.js";
import { yearDays } from "../../base/time.js";
import type { NewPatient } from "../../data/cohort/index.js";
import { specialCount } from "../../data/cohort/vocabulary.js";
import { type ComputeOptions, threadsOf, withRuntime } from "../../engine/runtime/open-runtime.js";
import { startThreads } from "../../engine/runtime/threads.js";
import type { Events, ParameterValues } from "../../model/index.js";
import type { Trained } from "../../model/train/index.js";
import {
	checkFutureOptions,
	checkSamplesFutures,
	type Future,
	type FutureOptions,
	futureRules,
} from "../futures.js";
import { hazardModel, hazardSettingsOf } from "../hazards.js";
import { eventsOf, knownCount } from "../histories.js";
import { notAtRiskWarnings } from "../risk/question.js";
import {
	dayText,
	lastRecord,
	type Moment,
	momentOf,
	nothingRecorded,
	warningsFor,
} from "../user-input/moments.js";
import { onlyOne, type QueriedPatients, queriesAt, withCalls } from "./open.js";

export interface FuturesOptions extends ComputeOptions {
	/** The index day. Default: the last record. */
	readonly at?: Moment | undefined;
	/** How far futures go, in years. */
	readonly years: number;
	readonly samples: number;
	readonly seed: number;
}

export type FuturesResult = Awaited<ReturnType<typeof futures>>;

/**
 * Whole sampled futures of a patient after an index day: visits with their dates and codes, until a horizon or death.
 *
 * @example
 * const { futures } = await futures(readTrained("runs/first"), queried, { years: 5, samples: 100, seed: 0 });
 */
export async function futures(trained: Trained, queried: QueriedPatients, options: FuturesOptions) {
	const { samples, seed, years } = options;
	const patient = onlyOne(queried.patients);
	const settings = hazardSettingsOf(trained);
	const { axis } = queried;
	const { times } = queriesAt(queried, [options.at ?? momentOf(lastRecord)]);
	const at = times[0]?.[0] as number;
	if (patient.death !== null && Math.floor(patient.death) <= at)
		throw new InputError(
			`patient ${patient.id} died on ${dayText(patient.death, axis)}, not after the index day (${dayText(at, axis)}); give an earlier \`at\``,
			{ field: "at" },
		);
	const days = Math.round(years * yearDays);
	const drawn = await drawFutures(trained, patient.history, at, { ...options, days });
	const longest = settings.binDays.at(-1) as number;
	const closed =
		days <= longest + 1
			? await incidencesOnDay(
					trained,
					patient.history,
					Math.floor(at),
					Math.min(days, longest),
					options,
				)
			: undefined;
	const shares = newShares(patient, at, drawn);
	const counts = countsOf(drawn, Math.floor(at), days);
	const share = (count: number) => count / samples;
	return {
		patient,
		at,
		days,
		seed,
		futures: drawn,
		/** Per year that is lived in the futures. */
		visitsPerYear: counts.visits / (counts.days / yearDays),
		codesPerVisit: counts.visits > 0 ? counts.records / counts.visits : 0,
		/** The share of futures that end with death, and its risk in closed form. */
		dead: { share: share(counts.deaths), risk: closed?.at(-1) },
		/**
		 * Codes that the patient does not have on the index day: the share of futures with a record, the most frequent
		 * first, and the risk in closed form; undefined beyond what the model has learned.
		 */
		newCodes: [...shares]
			.sort(([a, one], [b, other]) => other - one || a - b)
			.map(([token, count]) => ({ token, share: share(count), risk: closed?.[token] })),
		simulated: trained.run.simulated === true,
		axis,
		vocabulary: trained.vocabulary,
		warnings: [
			...(closed
				? []
				: [
						`the model has learned hazards up to ${(longest / yearDays).toFixed(0)} years ahead; futures beyond it repeat what it has learned, and have no risk in closed form beside them`,
					]),
			...notAtRiskWarnings(patient.history, at, settings.lookBackDays),
			...warningsFor(queried, [{ patient, time: at }], trained.manifest, nothingRecorded),
		],
	};
}

/** The incidence of every output within so many days of an index day. */
const incidencesOnDay = (
	trained: Trained,
	history: Events,
	day: number,
	days: number,
	{ threads = threadsOf(trained), provider, precision }: ComputeOptions,
) =>
	withRuntime({ threads, provider, precision }, "inference", async (runtime) => {
		const model = hazardModel(runtime, trained);
		const hazards = await model.at([history], [[day]]).finally(() => model.dispose());
		return hazards.incidence(0, days);
	});

/** By token: the futures that record it, of codes that the patient does not have. */
function newShares({ history }: NewPatient, at: number, futures: readonly Future[]) {
	const known = new Set(eventsOf(history, 0, knownCount(history, at)).tokens);
	const counts = new Map<number, number>();
	for (const { tokens } of futures)
		for (const token of new Set(tokens))
			if (token >= specialCount && !known.has(token))
				counts.set(token, (counts.get(token) ?? 0) + 1);
	return counts;
}

/** Days that are lived, visits, records and deaths of futures. */
function countsOf(futures: readonly Future[], from: number, days: number) {
	const counts = { days: 0, visits: 0, records: 0, deaths: 0 };
	for (const { times, death } of futures) {
		counts.days += (death ?? from + days) - from;
		counts.visits += new Set(times).size;
		counts.records += times.length;
		if (death !== null) counts.deaths++;
	}
	return counts;
}

export interface FutureThreadData {
	readonly model: string;
	readonly config: unknown;
	readonly weights: ParameterValues;
}

/** Futures for which another thread is worth its start. */
const leastPerThread = 100;

/**
 * Futures of a history after an index day. On the CPU each thread draws some of them with a model of its own: many
 * small computations in parallel are faster than one that is spread over all cores, and more threads than cores would
 * only wait. Which thread draws a future makes no difference to it.
 */
export async function drawFutures(
	trained: Trained,
	history: Events,
	indexDay: number,
	options: Omit<FutureOptions, "leftOut" | "repeats"> & ComputeOptions,
): Promise<Future[]> {
	const { threads = threadsOf(trained), provider, precision, ...given } = options;
	const settings = { ...given, ...futureRules(trained.vocabulary, trained.manifest.filters.dedup) };
	// Not in threads: a limit is for all futures together, and threads pass errors on as text.
	checkSamplesFutures(trained.model);
	checkFutureOptions(settings, 1);
	const most = Math.min(threads, Math.ceil(settings.samples / leastPerThread));
	if (provider !== "xla" && most > 1) {
		const firstOf = (part: number) => Math.floor((part * settings.samples) / most);
		const parts = Array.from({ length: most }, (_, i) => ({
			...settings,
			firstSample: firstOf(i),
			samples: firstOf(i + 1) - firstOf(i),
		}));
		return (await drawInThreads(trained, history, indexDay, parts)).flat();
	}
	const [futures] = await withCalls(trained, { threads: 1, provider, precision }, (calls) =>
		calls.drawFutures([history], [indexDay], settings),
	);
	return futures ?? [];
}

async function drawInThreads(
	{ model, config, weights }: Trained,
	history: Events,
	indexDay: number,
	parts: readonly FutureOptions[],
): Promise<Future[][]> {
	const workerData: FutureThreadData = { model: model.id, config, weights };
	const { call, end } = startThreads(new URL("./future-thread.js", import.meta.url), {
		count: parts.length,
		workerData,
		work: "draws futures",
	});
	try {
		const events = eventsOf(history, 0, history.times.length);
		return (await Promise.all(
			parts.map((part) => call("draw", [events, indexDay, part])),
		)) as Future[][];
	} finally {
		await end();
	}
}
