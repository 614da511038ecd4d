import { InputError } from "../../base/errors.js";
import { type TimeAxis, yearDays } from "../../base/time.js";
import type { NewPatient } from "../../data/cohort/index.js";
import { specialCount, type Vocabulary } from "../../data/cohort/vocabulary.js";
import type { ComputeOptions } from "../../engine/runtime/open-runtime.js";
import type { Trained } from "../../model/train/index.js";
import type { Future } from "../../predict/futures.js";
import { hazardSettingsOf } from "../../predict/hazards.js";
import { notAtRiskWarnings } from "../../predict/risk/question.js";
import {
	dayText,
	lastRecord,
	type Moment,
	momentOf,
	nothingRecorded,
	timesOf,
	warningsFor,
} from "../../predict/user-input/index.js";
import { drawFutures } from "./draw-futures.js";
import type { QueriedPatients } from "./patients.js";
import { onlyOne } from "./risk.js";
import { withHazards } from "./with-hazards.js";

/** Options of `futures`. */
export interface FuturesOptions extends ComputeOptions {
	/** The index day. Default: the last record. */
	readonly at?: Moment | undefined;
	/** How far futures go, in years. */
	readonly years: number;
	/** Number of futures. */
	readonly samples: number;
	readonly seed: number;
}

/** A code that the patient does not have on the index day. */
export interface NewCode {
	readonly token: number;
	/** The share of futures in which it is recorded. */
	readonly share: number;
	/** The risk in closed form; undefined beyond what the model has learned. */
	readonly risk: number | undefined;
}

export interface FuturesResult {
	readonly patient: NewPatient;
	/** The index day. */
	readonly at: number;
	readonly days: number;
	readonly seed: number;
	readonly futures: readonly Future[];
	/** Per year that is lived in the futures. */
	readonly visitsPerYear: number;
	readonly codesPerVisit: number;
	/** The share of futures that end with death, and its risk in closed form. */
	readonly dead: Pick<NewCode, "share" | "risk">;
	/** The most frequent first. */
	readonly newCodes: readonly NewCode[];
	/** Whether the model was trained on a simulated population. */
	readonly simulated: boolean;
	readonly axis: TimeAxis;
	readonly vocabulary: Vocabulary;
	readonly warnings: readonly string[];
}

/**
 * Whole sampled futures of a patient after an index day: visits with their dates and codes, until a horizon or death.
 *
 * @example
 * const { futures } = await futures(readTrained("runs/first"), queried, { years: 5, samples: 100, seed: 0 });
 */
export async function futures(
	trained: Trained,
	queried: QueriedPatients,
	options: FuturesOptions,
): Promise<FuturesResult> {
	const { samples, seed, years } = options;
	const patient = onlyOne(queried.patients);
	const settings = hazardSettingsOf(trained);
	const { axis } = queried;
	const [[at]] = timesOf([options.at ?? momentOf(lastRecord)], [patient], axis, "`at`") as [
		[number],
	];
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
			? await withHazards(trained, options, async (model) => {
					const hazards = await model.at([patient.history], [[Math.floor(at)]]);
					return hazards.incidence(0, Math.min(days, longest));
				})
			: undefined;
	const shares = newShares(patient, at, drawn, trained.vocabulary.size);
	const counts = countsOf(drawn, Math.floor(at), days);
	const share = (count: number) => count / samples;
	return {
		...{ patient, at, days, seed, futures: drawn },
		visitsPerYear: counts.visits / (counts.days / yearDays),
		codesPerVisit: counts.visits > 0 ? counts.records / counts.visits : 0,
		dead: { share: share(counts.deaths), risk: closed?.at(-1) },
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

/** By token: the futures that record it, of codes that the patient does not have. */
function newShares(
	{ history }: NewPatient,
	at: number,
	futures: readonly Future[],
	vocab: number,
): Map<number, number> {
	const known = new Uint8Array(vocab);
	for (const [n, token] of history.tokens.entries())
		if (Math.floor(history.times[n] as number) <= Math.floor(at)) known[token] = 1;
	const counts = new Map<number, number>();
	for (const { tokens } of futures)
		for (const token of new Set(tokens))
			if (token >= specialCount && known[token] === 0)
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
