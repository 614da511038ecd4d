import { InputError } from "../../base/errors.js";
import { thousands } from "../../base/thousands.js";
import { yearDays } from "../../base/time.js";
import type { NewPatient } from "../../data/cohort/index.js";
import type { Trained } from "../../model/train/index.js";
import { hazardSettingsOf } from "../../predict/hazards.js";
import { cutHorizons, outputsFor } from "../../predict/incidence.js";
import {
	dayText,
	type FoundCode,
	findCode,
	type GridOptions,
	type Moment,
	momentOf,
	timeGrid,
	timesOf,
} from "../../predict/user-input/index.js";
import { type AdHocGroup, findGroups } from "./group-risks.js";
import type { ComputeOptions } from "./open-runtime.js";
import type { QueriedPatients } from "./patients.js";
import { type EditOptions, type Edits, editsOf } from "./risk-edits.js";
import { explainedDays } from "./risk-reasons.js";

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
const lastRecord = momentOf("+0d");

/** A query from options, with the groups that only sampled futures answer, and warnings on horizons that were cut. */
export function readRiskQuery(
	trained: Trained,
	patient: NewPatient,
	queried: QueriedPatients,
	options: RiskOptions,
): {
	readonly query: RiskQuery;
	readonly groups: ReturnType<typeof findGroups>;
	readonly warnings: readonly string[];
} {
	const { codes, groups } = findCodes(trained, queried, options);
	const { binDays } = hazardSettingsOf(trained);
	const longest = { longestDays: binDays.at(-1) as number };
	const { years = usualYears, horizon = usualHorizon } = options;
	const cut = cutHorizons(longest, [...years.map((own) => own * yearDays), horizon]);
	const [explained = null] = options.why
		? cutHorizons(longest, [explainedDays(options, usualHorizon)]).days
		: [];
	const { axis } = queried;
	const [[at]] = timesOf([options.at ?? lastRecord], [patient], axis, "`at`") as [[number]];
	if (patient.death !== null && Math.floor(patient.death) < Math.floor(at))
		throw new InputError(
			`patient ${patient.id} died on ${dayText(patient.death, axis)}, before the index day (${dayText(at, axis)}); give an earlier \`at\``,
			{ field: "at" },
		);
	const query: RiskQuery = {
		...{ patient, codes, at },
		horizons: years.map((own, i) => ({ years: own, days: cut.days[i] as number })),
		horizonDays: cut.days.at(-1) as number,
		times: timeGrid(patient, axis, options),
		attributed: timesOf(options.attribute ?? [], [patient], axis, "`attribute`")[0] ?? [],
		explainedDays: explained,
		whatIf: editsOf(options, patient, axis, { ...trained, map: queried.map }),
	};
	return { query, groups, warnings: cut.warnings };
}

/** Codes and groups that the run has hazards for, and the other groups. */
function findCodes(
	trained: Trained,
	{ map }: QueriedPatients,
	options: Pick<RiskOptions, "codes" | "groups">,
) {
	const settings = hazardSettingsOf(trained);
	const book = { ...trained, map };
	const model = { settings, vocab: trained.vocabulary.size };
	const given = findGroups(options.groups ?? [], book);
	const hasHazards = ({ tokens }: (typeof given)[number]) =>
		outputsFor(model, [...tokens]).length === 1;
	const codes = [
		...options.codes.map((code) => findCode(code, { ...book, groups: settings.groups })),
		...given
			.filter(hasHazards)
			.map(({ name, tokens }): FoundCode => ({ code: name, name, tokens: [...tokens] })),
	];
	return { codes, groups: given.filter((group) => !hasHazards(group)) };
}

/** The only patient of the input. */
export function onlyOne(patients: readonly NewPatient[]): NewPatient {
	const [patient, second] = patients;
	if (patient && !second) return patient;
	throw new InputError(
		`the input has ${thousands(patients.length)} patients; name one with \`patient\`, such as ${patients
			.slice(0, 5)
			.map(({ id }) => id)
			.join(", ")}`,
		{ field: "patient" },
	);
}
