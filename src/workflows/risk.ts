import { InputError } from "../base/errors.js";
import type { TimeAxis } from "../base/time.js";
import type { NewPatient } from "../cohort/index.js";
import type { Vocabulary } from "../cohort/vocabulary.js";
import { attribute, edited, type RiskTrajectory, riskTrajectories } from "../infer/index.js";
import {
	editWarnings,
	type FoundCode,
	findCode,
	type GridOptions,
	type Moment,
	timeGrid,
	timesOf,
	warningsFor,
} from "../infer/user-input/index.js";
import type { Predictor } from "../models/index.js";
import type { Trained } from "../train/index.js";
import type { ComputeOptions } from "./open-runtime.js";
import { type QueriedPatients, withPredictor } from "./patients.js";
import { type EditOptions, type Edits, editsOf } from "./risk-edits.js";

/** A query about the risk of codes. */
export interface RiskQuery {
	readonly patient: NewPatient;
	readonly codes: readonly FoundCode[];
	readonly times: Float64Array;
	/** Times at which to attribute the risk to events. */
	readonly attributed: readonly number[];
	readonly whatIf?: Edits | undefined;
}

/** The effect of each event of the history on the risk of a code at a time. */
export interface Contributions {
	readonly time: number;
	readonly risk: number;
	readonly effects: Float64Array; // [events]
}

export interface CodeRisk {
	readonly code: FoundCode;
	readonly trajectory: RiskTrajectory;
	/** The trajectory of the edited history. */
	readonly whatIf?: RiskTrajectory | undefined;
	readonly contributions: readonly Contributions[];
}

/** The parsed query, and the risks. */
export interface RiskResult {
	readonly query: RiskQuery;
	readonly risks: readonly CodeRisk[];
	readonly axis: TimeAxis;
	readonly vocabulary: Vocabulary;
	/** How codes were interpreted, where that is not obvious. */
	readonly notes: readonly string[];
	/** Caveats on the query. */
	readonly warnings: readonly string[];
}

/** Options of `risk`. */
export interface RiskOptions extends GridOptions, EditOptions, ComputeOptions {
	/** Codes as users write them. */
	readonly codes: readonly string[];
	/** Times at which to attribute the risk to events. */
	readonly attribute?: readonly Moment[] | undefined;
}

/** Follows the risk of codes along a patient's history and beyond. */
export async function risk(
	trained: Trained,
	queried: QueriedPatients,
	options: RiskOptions,
): Promise<RiskResult> {
	const patient = onlyOne(queried.patients);
	const book = { ...trained, map: queried.map };
	const codes = options.codes.map((code) => findCode(code, book));
	const query: RiskQuery = {
		patient,
		codes,
		times: timeGrid(patient, queried.axis, options),
		attributed: timesOf(options.attribute ?? [], [patient], queried.axis, "`attribute`")[0] ?? [],
		whatIf: editsOf(options, patient, queried.axis, book),
	};
	return {
		query,
		risks: await withPredictor(trained, options, (predictor) => risksOf(predictor, query)),
		axis: queried.axis,
		vocabulary: trained.vocabulary,
		notes: codes.flatMap(({ note }) => note ?? []),
		warnings: warningsOf(query, queried, trained),
	};
}

function warningsOf(
	{ patient, times, attributed, whatIf }: RiskQuery,
	queried: QueriedPatients,
	{ manifest }: Trained,
): string[] {
	const { history } = patient;
	const changed = whatIf && Array.from(edited(history, whatIf.edits).times);
	return [
		...warningsFor(
			{ ...queried, patients: [patient] },
			[...times, ...attributed].map((time) => ({ patient, time })),
			manifest,
		),
		...(changed ? editWarnings(changed.slice(history.birthEvents), manifest) : []),
	];
}

function onlyOne(patients: readonly NewPatient[]): NewPatient {
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

async function risksOf(
	predictor: Predictor,
	{ patient: { history }, codes, times, attributed, whatIf }: RiskQuery,
): Promise<CodeRisk[]> {
	const histories = whatIf ? [history, edited(history, whatIf.edits)] : [history];
	const [asIs = [], changed] = await riskTrajectories(
		predictor,
		histories,
		codes.map(({ tokens }) => tokens),
		histories.map(() => times),
	);
	const risks: CodeRisk[] = [];
	for (const [at, code] of codes.entries())
		risks.push({
			code,
			trajectory: asIs[at] as RiskTrajectory,
			whatIf: changed?.[at],
			contributions: await contributionsTo(predictor, history, code, attributed),
		});
	return risks;
}

async function contributionsTo(
	predictor: Predictor,
	history: NewPatient["history"],
	{ tokens }: FoundCode,
	times: readonly number[],
): Promise<Contributions[]> {
	if (times.length === 0) return [];
	const { base, effect } = await attribute(predictor, history, { codes: tokens, times });
	return times.map((time, at) => ({
		time,
		risk: base[at] as number,
		effects: Float64Array.from(
			{ length: history.times.length },
			(_, event) => effect[event * times.length + at] as number,
		),
	}));
}
