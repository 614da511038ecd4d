import { InputError } from "../base/errors.js";
import { type TimeAxis, yearDays } from "../base/time.js";
import { incidenceByAgeAndSex } from "../cohort/age-sex-rates.js";
import { type NotAtRisk, whyNotAtRisk } from "../cohort/at-risk.js";
import type { NewPatient } from "../cohort/index.js";
import type { Vocabulary } from "../cohort/vocabulary.js";
import { hazardSettingsOf } from "../infer/hazards.js";
import { cutHorizons, independenceNotes, outputsFor } from "../infer/incidence.js";
import {
	attributeIncidence,
	edited,
	type HazardModel,
	hazardModel,
	type Incidence,
	type IncidenceTrajectory,
	incidences,
	incidenceTrajectories,
} from "../infer/index.js";
import {
	dayText,
	editWarnings,
	type FoundCode,
	findCode,
	type GridOptions,
	type Moment,
	momentOf,
	nothingRecorded,
	spanText,
	timeGrid,
	timesOf,
	warningsFor,
} from "../infer/user-input/index.js";
import { outputsOf } from "../models/hazards/settings.js";
import { readRates, type Trained } from "../train/index.js";
import { checkDistinctRuns } from "./distinct-runs.js";
import { type AdHocGroup, findGroups, type GroupRisk, groupRisks } from "./group-risks.js";
import { type ComputeOptions, openRuntime, threadsOf } from "./open-runtime.js";
import type { QueriedPatients } from "./patients.js";
import { type EditOptions, type Edits, editsOf } from "./risk-edits.js";
import { checkExplained, explainedDays, type RiskReasons, reasonsFor } from "./risk-reasons.js";

/** A query about the risk of codes: the probability of a record within a horizon, death competing. */
export interface RiskQuery {
	readonly patient: NewPatient;
	readonly codes: readonly FoundCode[];
	/** The index day; its records are known. */
	readonly at: number;
	/** Horizons after the index day. */
	readonly horizons: readonly { readonly years: number; readonly days: number }[];
	/** The horizon of the trajectory. */
	readonly horizonDays: number;
	/** Times of the trajectory. */
	readonly times: Float64Array;
	/** Times at which to attribute the risk to events. */
	readonly attributed: readonly number[];
	/** The horizon of the risk to explain; null to explain none. */
	readonly explainedDays: number | null;
	readonly whatIf?: Edits | undefined;
}

/** The effect of each event of the history on the risk of a code at a time. */
export interface Contributions {
	readonly time: number;
	readonly risk: number;
	readonly effects: Float64Array; // [events]
}

/** The risk after the index day, by horizon. */
export interface IndexRisk {
	/** The time of the first record up to the index day: the risk is that of another record. Null: of the first one. */
	readonly recordedAt: number | null;
	/** Means over the runs. */
	readonly probabilities: readonly number[];
	/** Over several runs. */
	readonly lowest?: readonly number[] | undefined;
	readonly highest?: readonly number[] | undefined;
}

export interface CodeRisk {
	readonly code: FoundCode;
	readonly index: IndexRisk;
	/** The same of the edited history. */
	readonly whatIfIndex?: IndexRisk | undefined;
	/** The same of people of this age and sex; of first records only. */
	readonly sameAgeAndSex?: readonly number[] | undefined;
	/** Why the risk after the index day is what it is. */
	readonly reasons?: RiskReasons | undefined;
	readonly trajectory: IncidenceTrajectory;
	/** The trajectory of the edited history. */
	readonly whatIf?: IncidenceTrajectory | undefined;
	readonly contributions: readonly Contributions[];
}

/** The parsed query, and the risks. */
export interface RiskResult {
	readonly query: RiskQuery;
	readonly risks: readonly CodeRisk[];
	/** Of groups that the run has no hazards for, after the index day. */
	readonly groups: readonly GroupRisk[];
	/** Futures that the risks of groups come from. */
	readonly samples: number;
	/** Number of runs behind the risks after the index day; the trajectories are of the first. */
	readonly runs: number;
	/** Whether the model was trained on a simulated population. */
	readonly simulated: boolean;
	readonly axis: TimeAxis;
	readonly vocabulary: Vocabulary;
	/** How codes were interpreted, where that is not obvious. */
	readonly notes: readonly string[];
	/** Caveats on the query. */
	readonly warnings: readonly string[];
}

/** Options of `risk`. */
export interface RiskOptions extends GridOptions, EditOptions, ComputeOptions {
	/** Codes as users write them, and names of groups. */
	readonly codes: readonly string[];
	/**
	 * Sets of codes: the risk of the first record of any member. A set that the run has hazards for is answered from
	 * them, others from sampled futures of the first run.
	 */
	readonly groups?: readonly AdHocGroup[] | undefined;
	/** Number of futures. Default: 1,000. */
	readonly samples?: number | undefined;
	/** Of the futures. Default: 0. */
	readonly seed?: number | undefined;
	/** The index day. Default: the last record. */
	readonly at?: Moment | undefined;
	/** Horizons after the index day. Default: 1, 5 and 10. */
	readonly years?: readonly number[] | undefined;
	/** The horizon of the trajectory, in days. Default: 5 years. */
	readonly horizon?: number | undefined;
	/** Times at which to attribute the risk to events. */
	readonly attribute?: readonly Moment[] | undefined;
	/**
	 * Explain the risk of the only code within `horizon`, the only one of `years` or 5 years: what the records of each
	 * code add.
	 */
	readonly why?: boolean | undefined;
	/** Further runs of the same dataset, such as other seeds. */
	readonly others?: readonly Trained[] | undefined;
}

const usualYears = [1, 5, 10] as const;
const usualHorizon = 5 * yearDays;
const usualSamples = 1000;
const lastRecord = momentOf("+0d");

/**
 * The probability that codes are recorded within some years of an index day, and how it developed along a patient's
 * history: the first record or, where a code is recorded already, another one.
 */
export async function risk(
	trained: Trained,
	queried: QueriedPatients,
	options: RiskOptions,
): Promise<RiskResult> {
	checkExplained(options);
	const patient = onlyOne(queried.patients);
	const settings = hazardSettingsOf(trained);
	const { others = [] } = options;
	checkRuns(trained, others);
	const book = { ...trained, map: queried.map };
	const model = { settings, vocab: trained.vocabulary.size };
	const ofUser = findGroups(options.groups ?? [], book);
	const hasHazards = ({ tokens }: (typeof ofUser)[number]) =>
		outputsFor(model, [...tokens]).length === 1;
	const groups = ofUser.filter((group) => !hasHazards(group));
	const codes = [
		...options.codes.map((code) => findCode(code, { ...book, groups: settings.groups })),
		...ofUser
			.filter(hasHazards)
			.map(({ name, tokens }): FoundCode => ({ code: name, name, tokens: [...tokens] })),
	];
	const longest = { longestDays: settings.binDays.at(-1) as number };
	const { years = usualYears, horizon = usualHorizon } = options;
	const cut = cutHorizons(longest, [...years.map((own) => own * yearDays), horizon]);
	const [explained = null] = options.why
		? cutHorizons(longest, [explainedDays(options, usualHorizon)]).days
		: [];
	const timeOf = (moment: Moment, option: keyof RiskOptions) =>
		timesOf([moment], [patient], queried.axis, `\`${option}\``)[0]?.[0] as number;
	const at = timeOf(options.at ?? lastRecord, "at");
	if (patient.death !== null && Math.floor(patient.death) < Math.floor(at))
		throw new InputError(
			`patient ${patient.id} died on ${dayText(patient.death, queried.axis)}, before the index day (${dayText(at, queried.axis)}); give an earlier \`at\``,
			{ field: "at" },
		);
	const query: RiskQuery = {
		...{ patient, codes, at },
		horizons: years.map((own, i) => ({ years: own, days: cut.days[i] as number })),
		horizonDays: cut.days.at(-1) as number,
		times: timeGrid(patient, queried.axis, options),
		attributed: timesOf(options.attribute ?? [], [patient], queried.axis, "`attribute`")[0] ?? [],
		explainedDays: explained,
		whatIf: editsOf(options, patient, queried.axis, book),
	};
	const { samples = usualSamples, seed = 0 } = options;
	const ofGroups = await groupRisks(trained, patient.history, query.at, groups, {
		...{ ...options, samples, seed, horizons: query.horizons.map(({ days }) => days) },
	});
	const first = await withHazards(trained, options, (model) => risksOf(model, trained, query));
	const further: IndexRisks[] = [];
	for (const other of others)
		further.push(await withHazards(other, options, (model) => indexRisksOf(model, query)));
	const rates = readRates(trained.folder, outputsOf(settings, trained.vocabulary.size).count);
	return {
		query,
		risks: first.map(({ index, whatIfIndex, ...own }, at) => ({
			...own,
			index: spreadOf([index, ...further.map(({ asIs }) => asIs[at] as IndexRisk)]),
			...(whatIfIndex && {
				whatIfIndex: spreadOf([
					whatIfIndex,
					...further.flatMap(({ changed }) => changed?.[at] ?? []),
				]),
			}),
			...(rates &&
				index.recordedAt === null && {
					sameAgeAndSex: byAgeAndSex(query, (days) =>
						incidenceByAgeAndSex(
							...([rates, patient.history, query.at] as const),
							...([outputsFor(model, own.code.tokens), days] as const),
						),
					),
				}),
		})),
		...{ groups: ofGroups, samples },
		runs: 1 + others.length,
		simulated: [trained, ...others].some(({ run }) => run.simulated === true),
		axis: queried.axis,
		vocabulary: trained.vocabulary,
		notes: [
			...[...codes, ...groups.flatMap((group) => group.codes)].flatMap(({ note }) => note ?? []),
			...independenceNotes(model, codes),
		],
		warnings: [
			...cut.warnings,
			...(options.why && others.length > 0 ? [`reasons are of ${trained.folder} alone`] : []),
			...(groups.length > 0 ? groupWarnings(trained, others, query) : []),
			...warningsOf(query, queried, trained, settings.lookBackDays),
		],
	};
}

/** By horizon; undefined if the age or the sex is unknown. */
function byAgeAndSex(
	{ horizons }: RiskQuery,
	incidence: (days: number) => number | undefined,
): readonly number[] | undefined {
	const found = horizons.map(({ days }) => incidence(days));
	return found.every((own) => own !== undefined) ? found : undefined;
}

/** Histories are read once, so all runs must have learned from the same dataset. */
function checkRuns({ folder, run }: Trained, others: readonly Trained[]): void {
	checkDistinctRuns([{ folder }, ...others]);
	for (const other of others) {
		hazardSettingsOf(other);
		if (other.run.dataset.contentHash !== run.dataset.contentHash)
			throw new InputError(
				`${other.folder} was trained on another dataset than ${folder}; give runs of one dataset, such as those of several seeds`,
			);
	}
}

/** What risks of groups from sampled futures leave out. */
const groupWarnings = ({ folder }: Trained, others: readonly Trained[], { whatIf }: RiskQuery) => [
	...(others.length > 0 ? [`risks of groups from futures are of ${folder} alone`] : []),
	...(whatIf ? ["risks of groups from futures are of the history without edits"] : []),
];

/** What an index day lacks that training asked of it. */
export function notAtRiskWarnings(
	history: NewPatient["history"],
	at: number,
	lookBackDays: number,
): string[] {
	const reason = whyNotAtRisk(history, at, lookBackDays);
	// Times after death have a warning of their own.
	if (reason === null || (history.death !== null && at > history.death)) return [];
	const texts: Readonly<Record<NotAtRisk, string>> = {
		dead: "the patient died on the index day: the risk is that of somebody alive with these records",
		"not observed at the index day":
			"the index day lies outside the patient's observed time: records near it may be missing, and the risk may be too low",
		"look-back not covered": `the patient was observed for less than ${spanText(lookBackDays)} before the index day: codes that existed before may count as new, and the risk of a first record may be too high or too low`,
	};
	return [texts[reason]];
}

function warningsOf(
	{ patient, at, times, attributed, whatIf }: RiskQuery,
	queried: QueriedPatients,
	{ manifest }: Trained,
	lookBackDays: number,
): string[] {
	const { history } = patient;
	const changed = whatIf && Array.from(edited(history, whatIf.edits).times);
	return [
		...notAtRiskWarnings(history, at, lookBackDays),
		...warningsFor(
			{ ...queried, patients: [patient] },
			[...new Set([at, ...times, ...attributed])].map((time) => ({ patient, time })),
			manifest,
			nothingRecorded,
		),
		...(changed ? editWarnings(changed.slice(history.birthEvents), manifest) : []),
	];
}

export function onlyOne(patients: readonly NewPatient[]): NewPatient {
	const [patient, second] = patients;
	if (patient && !second) return patient;
	throw new InputError(
		`the input has ${patients.length.toLocaleString("en-US")} patients; name one with \`patient\`, such as ${patients
			.slice(0, 5)
			.map(({ id }) => id)
			.join(", ")}`,
		{ field: "patient" },
	);
}

/** Opens the hazards of a run for some work, and disposes of them afterwards. */
export async function withHazards<T>(
	trained: Trained,
	{ threads = threadsOf(trained), provider, precision }: ComputeOptions,
	work: (model: HazardModel) => Promise<T>,
): Promise<T> {
	const runtime = await openRuntime({ threads, provider, precision }, "inference");
	try {
		const model = hazardModel(runtime, trained);
		return await work(model).finally(() => model.dispose());
	} finally {
		await runtime.dispose?.();
	}
}

/** Risks of one run after the index day, per code. */
interface IndexRisks {
	readonly asIs: readonly IndexRisk[];
	readonly changed: readonly IndexRisk[] | undefined;
}

const historiesOf = ({ patient: { history }, whatIf }: RiskQuery) =>
	whatIf ? [history, edited(history, whatIf.edits)] : [history];

async function indexRisksOf(model: HazardModel, query: RiskQuery): Promise<IndexRisks> {
	const histories = historiesOf(query);
	const found = await incidences(
		model,
		histories,
		query.codes.map(({ tokens }) => tokens),
		histories.map(() => [query.at]),
		cutHorizons(
			model,
			query.horizons.map(({ days }) => days),
		).days,
	);
	const risksIn = (own: readonly Incidence[]) =>
		own.map(({ probabilities, recordedAt: [recorded = Number.NaN] }) => ({
			recordedAt: Number.isNaN(recorded) ? null : recorded,
			probabilities: [...probabilities],
		}));
	const [asIs = [], changed] = found.map(risksIn);
	return { asIs, changed };
}

/** Mean, lowest and highest over runs. */
function spreadOf(runs: readonly IndexRisk[]): IndexRisk {
	const [first] = runs as [IndexRisk];
	if (runs.length === 1) return first;
	const over = (of: (values: readonly number[]) => number) =>
		first.probabilities.map((_, horizon) =>
			of(runs.map(({ probabilities }) => probabilities[horizon] as number)),
		);
	return {
		...first,
		probabilities: over((values) => values.reduce((sum, own) => sum + own, 0) / values.length),
		lowest: over((values) => Math.min(...values)),
		highest: over((values) => Math.max(...values)),
	};
}

async function risksOf(
	model: HazardModel,
	trained: Trained,
	query: RiskQuery,
): Promise<CodeRisk[]> {
	const { patient, codes, times, attributed, horizonDays, explainedDays } = query;
	const { asIs: index, changed: changedIndex } = await indexRisksOf(model, query);
	const histories = historiesOf(query);
	const tokens = codes.map((code) => code.tokens);
	const [asIs = [], changed] = await incidenceTrajectories(
		...([model, histories, tokens] as const),
		...([histories.map(() => times), horizonDays] as const),
	);
	const risks: CodeRisk[] = [];
	for (const [at, code] of codes.entries())
		risks.push({
			code,
			index: index[at] as IndexRisk,
			whatIfIndex: changedIndex?.[at],
			...(explainedDays !== null && {
				reasons: await reasonsFor(model, trained, query, code, explainedDays),
			}),
			trajectory: asIs[at] as IncidenceTrajectory,
			whatIf: changed?.[at],
			contributions: await contributionsTo(model, patient.history, code, attributed, horizonDays),
		});
	return risks;
}

async function contributionsTo(
	model: HazardModel,
	history: NewPatient["history"],
	{ tokens }: FoundCode,
	times: readonly number[],
	horizonDays: number,
): Promise<Contributions[]> {
	if (times.length === 0) return [];
	const query = { risks: [tokens], days: times, horizonDays };
	const [found] = await attributeIncidence(model, history, query);
	return times.map((time, at) => ({
		time,
		risk: found?.base[at] as number,
		effects: Float64Array.from(
			{ length: history.times.length },
			(_, event) => found?.effect[event * times.length + at] as number,
		),
	}));
}
