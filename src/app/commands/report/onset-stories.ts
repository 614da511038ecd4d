import { yearDays } from "../../../base/time.js";
import { incidenceByAgeAndSex } from "../../../data/cohort/age-sex-rates.js";
import { whyNotAtRisk } from "../../../data/cohort/at-risk.js";
import type { Dataset, History } from "../../../data/cohort/index.js";
import type { OnsetStory } from "../../../evaluate/charts/index.js";
import type { Report } from "../../../evaluate/report/index.js";
import { findSimulationTruth } from "../../../evaluate/simulation-truth.js";
import { outputsOf } from "../../../model/hazards/settings.js";
import type { CodeConfig } from "../../../model/heads.js";
import { readRates } from "../../../model/train/index.js";
import { outputsFor } from "../../../predict/incidence.js";
import { type HazardModel, hazardModel, incidences } from "../../../predict/index.js";
import { clockOf, type ReportRequest, reportedSplit } from "./figures.js";
import { type Target, targetsOf } from "./stories.js";

const horizonDays = 5 * yearDays;
/** The risk is judged so long before the diagnosis. */
const before = Math.round(yearDays);
/** The curves begin at most so long before the diagnosis. */
const shownDays = 8 * yearDays;
const curveTimes = 120;
/** Of the true risk, which takes longer. */
const [truthTimes, truthFutures] = [24, 200];
const fewestCases = 10;
/** The places of the two people among the cases, by risk relative to age and sex. */
const drawn = [
	["Warned", 0.9],
	["Not warned", 0.1],
] as const;

/** Two people before a diagnosis; undefined if patients were named, or the model has learned no hazards. */
export async function onsetPairOf(request: ReportRequest): Promise<Report["onsetPair"]> {
	const { trained, runtime, patients, onStage } = request;
	if (patients || !(trained.config as CodeConfig).hazards) return undefined;
	onStage("finding people before a diagnosis");
	const hazards = hazardModel(runtime, trained);
	return pairAmong(request, hazards).finally(() => hazards.dispose());
}

/**
 * The people at the 90th and at the 10th percentile of risk relative to people of their age and sex, one year before
 * the diagnosis, among all patients of the split in whom the first target with enough cases was first recorded;
 * undefined if none has enough. Without rates by age and sex, it is the risk itself that orders them.
 */
async function pairAmong(
	{ trained, dataset, summary }: ReportRequest,
	hazards: HazardModel,
): Promise<Report["onsetPair"]> {
	const { lookBackDays } = hazards.settings;
	const { count } = outputsOf(hazards.settings, trained.vocabulary.size);
	const rates = readRates(trained.folder, count);
	const targets = targetsOf(trained.vocabulary, summary);
	for (const target of targets) {
		const cases: Case[] = [];
		for await (const history of dataset.histories(reportedSplit)) {
			const onsetCase = caseOf(history, target, lookBackDays);
			if (onsetCase) cases.push(onsetCase);
		}
		if (cases.length < fewestCases) continue;
		const judged = await incidences(
			hazards,
			cases.map(({ history }) => history),
			[target.tokens],
			cases.map(({ day }) => [day]),
			[horizonDays],
		);
		const outputs = outputsFor(hazards, target.tokens);
		const peersOf = (history: History, day: number) =>
			rates && incidenceByAgeAndSex(rates, history, day, outputs, horizonDays);
		const ranked = cases
			.map((one, at) => {
				const risk = judged[at]?.[0]?.probabilities[0] as number;
				return { ...one, risk, order: risk / (peersOf(one.history, one.day) ?? 1) };
			})
			.sort((a, b) => a.order - b.order);
		const people: OnsetStory[] = [];
		for (const [title, share] of drawn) {
			const person = ranked[Math.round(share * (ranked.length - 1))]!;
			people.push(await storyOf(person, title, target, dataset, hazards, peersOf));
		}
		return {
			target: target.name,
			horizonDays,
			rule: `Of the ${cases.length} ${reportedSplit} patients who were first recorded with it after at least two years of observation, ordered by their predicted risk one year before${rates ? ", divided by that of people of their age and sex" : ""}: those at the 90th and at the 10th percentile.`,
			people,
		};
	}
	return undefined;
}

interface Case {
	readonly history: History;
	readonly diagnosis: number;
	/** The day on which the risk is judged. */
	readonly day: number;
}

/** Undefined if the target is not recorded, or if the patient was not at risk a year before. */
function caseOf(history: History, { tokens }: Target, lookBackDays: number): Case | undefined {
	const first = history.tokens.findIndex((token) => tokens.includes(token));
	if (first < 0) return undefined;
	const diagnosis = history.times[first]!;
	const day = Math.floor(diagnosis) - before;
	const isAtRisk = whyNotAtRisk(history, day, lookBackDays) === null;
	return isAtRisk ? { history, diagnosis, day } : undefined;
}

async function storyOf(
	{ history, diagnosis, day, risk }: Case & { readonly risk: number },
	title: string,
	{ tokens }: Target,
	dataset: Dataset,
	hazards: HazardModel,
	peersOf: (history: History, day: number) => number | undefined,
): Promise<OnsetStory> {
	const { lookBackDays } = hazards.settings;
	const lastDay = Math.floor(diagnosis) - 1;
	const start = history.observed.find(({ start, end }) => start <= day && day <= end)?.start ?? day;
	const from = Math.max(lastDay - shownDays, start + lookBackDays);
	const evenly = (count: number) => {
		const step = (lastDay - from) / (count - 1);
		return [...new Set(Array.from({ length: count }, (_, i) => Math.round(from + step * i)))];
	};
	const times = evenly(curveTimes);
	const [[curves] = []] = await incidences(hazards, [history], [tokens], [times], [horizonDays]);
	const peers = times.map((time) => peersOf(history, time));
	const truthOn = await trueRisk(dataset, history, tokens);
	const sparse = truthOn ? evenly(truthTimes) : [];
	return {
		patient: history.id,
		sex: history.sex,
		title,
		clock: clockOf(dataset, history),
		times,
		diagnosis,
		death: history.death,
		risk: [...(curves?.probabilities ?? [])],
		peers: peers.every((rate) => rate !== undefined) ? peers : undefined,
		...(truthOn && { truth: { times: sparse, risk: sparse.map(truthOn) } }),
		judged: { time: day, risk, peers: peersOf(history, day), truth: truthOn?.(day) },
		records: [...history.times.subarray(history.birthEvents)].filter((time) => time < diagnosis),
	};
}

/** The true risk of a simulated person on a day; undefined if it is unknown. */
async function trueRisk(
	dataset: Dataset,
	history: History,
	[token, ...others]: readonly number[],
): Promise<((day: number) => number) | undefined> {
	if (token === undefined || others.length > 0) return undefined;
	const truth = await findSimulationTruth(dataset, { split: reportedSplit }, [], "incidence");
	if (!truth) return undefined;
	return (day) =>
		truth.incidence(history, Math.floor(day), [Math.round(horizonDays)], {
			futures: truthFutures,
			seed: 0,
		}).tokens[token] as number;
}
