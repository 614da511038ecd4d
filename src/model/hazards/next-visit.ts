import type { Tensor } from "../../engine/tensor/index.js";
import * as graph from "../../engine/tensor/index.js";
import * as nn from "../nn/index.js";
import { bounded, type Features, hazardNats, prefix, sinceHatRow, sinceKnots } from "./head.js";
import { ageFeatures, type LandmarkOutcomes, pastFeatures } from "./landmarks.js";
import { type HazardSettings, visitBinsOf } from "./settings.js";

/** What is predicted of the next visit, and the level that each starts from until the data are known. */
const startingLevels = {
	visit: Math.log(0.01),
	visitDeath: Math.log(1e-5),
	oneRecord: 0,
	visitEnd: 0,
	newAlone: 0,
	newCodes: 0,
} as const;

/** The outputs that have weights for each bin of a visit; those of the others differ in their level alone. */
const perBin: ReadonlySet<keyof typeof startingLevels> = new Set(["visit"]);

/**
 * The outputs that are regressions on age and earlier records alone. Deaths are so rare that a network learns those of the
 * training patients by heart, and predicts twice too many for others; and decay would be stronger than what the steps
 * teach, so the young would die as often as the old.
 */
const regressions: ReadonlySet<keyof typeof startingLevels> = new Set(["visitDeath"]);

export function visitWeights(settings: HazardSettings, width: number): nn.WeightSpecs {
	const bins = visitBinsOf(settings).to.length;
	const weightsFor = (name: keyof typeof startingLevels) => {
		const rows = perBin.has(name) ? bins : 1;
		const zeros = (width: number) => nn.filledWith(0, [rows, width]);
		const matrix = (width: number): nn.WeightSpec =>
			regressions.has(name) ? { ...zeros(width), decays: false } : zeros(width);
		return nn.nested(name, {
			...(!regressions.has(name) && { state: zeros(width) }),
			age: matrix(ageFeatures),
			bias: nn.filledWith(startingLevels[name], [bins]),
			since: matrix(sinceKnots.length),
			past: matrix(pastFeatures),
		});
	};
	const names = Object.keys(startingLevels) as (keyof typeof startingLevels)[];
	return Object.assign({}, ...names.map(weightsFor));
}

/** The next visit, in the visit bins that lie in the bins of these states. */
export function nextVisit(
	settings: HazardSettings,
	parameters: nn.Weights,
	states: Tensor, // [landmarks, bins, width]
	{ ages, sinceAny, past }: VisitFeatures,
): NextVisit {
	const p = nn.within(parameters, prefix);
	const bins = states.shape[1] as number;
	const place = visitBinsOf(settings).within.filter((bin) => bin < bins);
	const count = place.length;
	const visitStates = graph.gather(states, graph.constant(place, [count], "int32"), 1); // [landmarks, visit bins, width]
	const features = graph.concat([ages, sinceHatRow(sinceAny), past], 1);
	const fromFeatures = projections(p, features, ["age", "since", "past"], count);
	return outputsFrom((name) => {
		if (regressions.has(name)) return fromFeatures(name);
		const stateWeights = p(`${name}.state`);
		const weights = perBin.has(name) ? stateWeights.slice(0, 0, count) : stateWeights;
		return visitStates.mul(weights).sum(-1).add(fromFeatures(name));
	});
}

/** The next visit in the first visit bins, all from one state: values are those of the bin that the state is of. */
export function nextVisitFrom(
	parameters: nn.Weights,
	state: Tensor, // [landmarks, width]
	{ ages, sinceAny, past }: VisitFeatures,
	visitBins: number,
): NextVisit {
	const p = nn.within(parameters, prefix);
	const inputs = graph.concat([state, ages, sinceHatRow(sinceAny), past], 1);
	return outputsFrom(projections(p, inputs, ["state", "age", "since", "past"], visitBins));
}

/**
 * The level of each output and its weights of these fields times the inputs, in the first visit bins. All outputs share
 * one product: their weights are small, and many products cost more than the sums.
 */
function projections(
	p: nn.Weights,
	inputs: Tensor, // [landmarks, features]
	fields: readonly string[],
	visitBins: number,
): (name: keyof typeof startingLevels) => Tensor {
	const names = Object.keys(startingLevels) as (keyof typeof startingLevels)[];
	const noEffect = graph.filled(0, [1, p("visitEnd.state").shape[1] as number], inputs.dtype);
	const effect = (name: keyof typeof startingLevels, field: string) =>
		field === "state" && regressions.has(name) ? noEffect : p(`${name}.${field}`);
	const weights = names.map((name) => {
		const joined = graph.concat(
			fields.map((field) => effect(name, field)),
			1,
		);
		const some = perBin.has(name) ? joined.slice(0, 0, visitBins) : joined;
		return some.expand([visitBins, joined.shape[1] as number]);
	});
	const biases = names.map((name) => p(`${name}.bias`).slice(0, 0, visitBins));
	const all = nn.product(inputs, graph.concat(weights, 0)).add(graph.concat(biases, 0));
	return (name) => {
		const first = names.indexOf(name) * visitBins;
		return all.slice(1, first, first + visitBins); // [landmarks, visit bins]
	};
}

type VisitFeatures = Pick<Features, "ages" | "sinceAny" | "past">;

/** The first visit or death after a landmark, conditional on none before: [landmarks, visit bins]. */
const outputsFrom = (outputFor: (name: keyof typeof startingLevels) => Tensor) => ({
	/** log hazards per day of a record of any code. */
	visits: bounded(outputFor("visit")),
	/** log hazards per day of death, through the day of the next visit. */
	deaths: bounded(outputFor("visitDeath")),
	/** Log-odds that this visit has one record only. */
	oneRecord: outputFor("oneRecord"),
	/** Log-odds that a record after the first is the last one. */
	visitEnd: outputFor("visitEnd"),
	/** Log-odds that the code of the only record is new to the patient. */
	newAlone: outputFor("newAlone"),
	/** Log-odds that the code of one of several records is. */
	newCodes: outputFor("newCodes"),
});

export type NextVisit = ReturnType<typeof outputsFrom>;

/** −log likelihood of when the next visit was, whether death came first, how many records it had, and how many codes were new: [landmarks]. */
export function nextVisitNats(
	settings: HazardSettings,
	{ visits, deaths, oneRecord, visitEnd, newAlone, newCodes }: NextVisit,
): Tensor {
	const [landmarks] = visits.shape as [number, number];
	const bins = visitBinsOf(settings);
	const outcome = (name: keyof LandmarkOutcomes) =>
		graph.input(`${prefix}.${name}`, [landmarks, 1], visits.dtype);
	const natsOf = (logHazard: Tensor, risk: Tensor) =>
		hazardNats(
			logHazard.reshape([landmarks, -1, 1]),
			risk.reshape([landmarks, 1, 1]),
			bins,
		).reshape([landmarks, -1]);
	const risk = outcome("visitRisk");
	const ends = (days: readonly number[]) => graph.constant(days, [1, days.length], visits.dtype);
	const isVisitBin = graph.both(
		ends(bins.from).less(graph.sub(0, risk)),
		ends(bins.to).greaterEqual(graph.sub(0, risk)),
	);
	const [newRecords, records] = [outcome("newRecords"), outcome("visitRecords")];
	/** −log likelihood of so many successes. */
	const trials = (count: Tensor | number, successes: Tensor | number, logOdds: Tensor) =>
		logOdds.softplus().mul(count).sub(logOdds.mul(successes));
	const ofVisit = graph.where(
		records.less(1.5),
		trials(1, 1, oneRecord).add(trials(1, newRecords, newAlone)),
		[
			trials(1, 0, oneRecord),
			trials(records.sub(1), 1, visitEnd),
			trials(records, newRecords, newCodes),
		].reduce(graph.add),
	);
	return [
		natsOf(visits, risk),
		natsOf(deaths, outcome("visitDeathRisk")),
		graph.where(isVisitBin, ofVisit, 0),
	]
		.reduce(graph.add)
		.sum(-1);
}
