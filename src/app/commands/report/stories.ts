import { InputError } from "../../../base/errors.js";
import { random } from "../../../base/random.js";
import { yearDays } from "../../../base/time.js";
import { incidenceByAgeAndSex } from "../../../data/cohort/age-sex-rates.js";
import { whyNotAtRisk } from "../../../data/cohort/at-risk.js";
import {
	type Dataset,
	type DatasetSummary,
	datasetView,
	type History,
	type Split,
	splitNames,
} from "../../../data/cohort/index.js";
import { specialCount, type Vocabulary } from "../../../data/cohort/vocabulary.js";
import type { Clock } from "../../../evaluate/charts/clock.js";
import type { OnsetStory } from "../../../evaluate/charts/onset/stories-figure.js";
import type { RiskPicture } from "../../../evaluate/charts/risk/picture.js";
import type { DiseaseTrajectory } from "../../../evaluate/charts/trajectory-figure.js";
import { rankOf } from "../../../evaluate/next/scores.js";
import type { Report } from "../../../evaluate/report/index.js";
import { findSimulationTruth } from "../../../evaluate/simulation-truth.js";
import { outputsOf } from "../../../model/hazards/settings.js";
import type { CodeConfig } from "../../../model/heads.js";
import type { Predictor } from "../../../model/index.js";
import { forecastWeights, readRates } from "../../../model/train/index.js";
import { outputsFor } from "../../../predict/incidence.js";
import {
	type HazardModel,
	hazardModel,
	incidenceReader,
	incidences,
	incidenceTrajectories,
} from "../../../predict/index.js";
import { type ReportRequest, reportedSplit } from "./learned.js";

/** How a patient's times are shown. */
const clockOf = ({ manifest }: Dataset, { birthEvents, times }: History) => ({
	axis: manifest.source.axis,
	birth: birthEvents > 0 ? times[0]! : null,
});

const lookUpWindow = 50;
const fewestLater = 10;
/** Maximum records after the window to forecast. */
const mostLater = 100;
/** PheCodes of heart failure and diabetes, the diseases of the labelled tasks. */
const defaultDiseases = ["428", "250"];

/** A disease that a story is about, with all its tokens. */
type Target = NonNullable<ReturnType<typeof targetOf>>;

/** Heart failure and diabetes where the vocabulary has them, else the most frequent code that few patients have. */
function targetsOf(vocabulary: Vocabulary, { codes, all }: DatasetSummary): Target[] {
	const named = defaultDiseases.flatMap((code) => targetOf(vocabulary, code, "PheCode") ?? []);
	if (named.length > 0) return named;
	const rare = codes.find(({ patients }) => patients > 0 && patients <= all.patients / 3);
	const target = rare && targetOf(vocabulary, rare.code, rare.system);
	return target ? [target] : [];
}

function targetOf(vocabulary: Vocabulary, code: string, system: string | null) {
	const tokens = [...vocabulary.tokens.keys()].slice(specialCount).filter((at) => {
		const token = vocabulary.tokens[at]!;
		return token.system === system && (token.code === code || token.code.startsWith(`${code}.`));
	});
	const [first] = tokens;
	if (first === undefined) return undefined;
	return { code, name: vocabulary.tokens[first]!.name || code, tokens };
}

type Chosen = ReturnType<typeof cut>;

/** A patient with the records that the model is shown and the target's first record. */
function cut(history: History, split: Split, target: Target) {
	const records = history.tokens.length - history.birthEvents;
	const recorded = history.tokens.findIndex((token) => target.tokens.includes(token));
	return {
		history,
		split,
		target,
		/** Number of records shown, without birth. */
		lookUp: records >= lookUpWindow + fewestLater ? lookUpWindow : Math.floor(records / 2),
		/** Index of the target's first token; undefined if it is never recorded. */
		recordedAt: recorded < 0 ? undefined : recorded,
	};
}

/** For each target, a patient in whom it is first recorded after the look-up window, drawn with the seed. */
async function chosenByRule(
	dataset: Dataset,
	split: Split,
	targets: readonly Target[],
	seed: number,
): Promise<Chosen[]> {
	const chosen: Chosen[] = [];
	const patients = [...dataset.patients(split)];
	for (const target of targets) {
		// One after the other: all histories of a large split do not fit in memory.
		for (const patient of random(seed).fork("stories").fork(target.code).shuffle(patients)) {
			if (chosen.some(({ history }) => history.id === dataset.idOf(patient))) continue;
			const candidate = cut(await dataset.read(patient), split, target);
			const { lookUp, recordedAt = -1 } = candidate;
			const place = recordedAt - candidate.history.birthEvents - lookUp;
			if (lookUp !== lookUpWindow || place < 0 || place >= mostLater) continue;
			chosen.push(candidate);
			break;
		}
	}
	return chosen;
}

/** Patients by id, each with the first target recorded in them, or the first target if there is none. */
async function chosenByName(
	dataset: Dataset,
	ids: readonly string[],
	targets: readonly Target[],
): Promise<Chosen[]> {
	const wanted = new Set(ids);
	const people = new Map<string, { readonly history: History; readonly split: Split }>();
	for (const split of splitNames)
		for await (const history of dataset.histories(split))
			if (wanted.has(history.id)) people.set(history.id, { history, split });
	return ids.map((id) => {
		const patient = people.get(id);
		if (!patient)
			throw new InputError(
				`${dataset.folder} has no patient "${id}"; \`patients\` takes ids as \`trajgpt embed --what patients\` lists them`,
				{ field: "patients", value: id },
			);
		if (targets.length === 0)
			throw new InputError("there is no code whose risk could be shown: all are in most histories");
		const stories = targets.map((target) => cut(patient.history, patient.split, target));
		return stories.find(({ recordedAt }) => recordedAt !== undefined) ?? stories[0]!;
	});
}

function ruleText(chosen: readonly Chosen[], seed: number): string {
	const names = chosen.map(({ target }) => target.name).join("; ");
	return `Chosen by rule: of the ${reportedSplit} patients with at least ${lookUpWindow + fewestLater} records, one drawn at random (seed ${seed}) among those in whom the disease is first recorded among the ${mostLater} after the first ${lookUpWindow}. Diseases: ${names}.`;
}

const top = 10;
const riskTimes = 200;
const horizonDays = 5 * yearDays;

async function trajectoryOf(
	predictor: Predictor,
	vocabulary: Vocabulary,
	{ history, target, lookUp }: Chosen,
	clock: Clock,
): Promise<DiseaseTrajectory> {
	const { id, tokens, times, birthEvents, death } = history;
	const cut = birthEvents + lookUp;
	const end = Math.min(tokens.length, cut + mostLater);
	const known = { tokens: tokens.subarray(0, cut), times: times.subarray(0, cut) };
	const later = times.subarray(cut, end);
	const { logProbabilities, vocab } = await predictor.score([known], [later]);
	const event = (index: number) => {
		const { code, name, category } = vocabulary.tokens[tokens[index]!]!;
		return { time: times[index]!, code, name, category };
	};
	return {
		patient: id,
		clock,
		top,
		death,
		lookUp: Array.from({ length: lookUp }, (_, place) => event(birthEvents + place)),
		forecast: Array.from(later, (_, place) => {
			const scores = logProbabilities.subarray(place * vocab, (place + 1) * vocab);
			return { ...event(cut + place), matched: rankOf(scores, tokens[cut + place]!) < top };
		}),
		targets: target.tokens.map((token) => vocabulary.tokens[token]!.code),
	};
}

/** The risk along the days before the target's first record, or up to the last record if it has none. */
async function riskOf(
	hazards: HazardModel,
	vocabulary: Vocabulary,
	{ history, target, recordedAt }: Chosen,
	clock: Clock,
): Promise<RiskPicture> {
	const { id, tokens, times, birthEvents, death } = history;
	const recorded = recordedAt === undefined ? undefined : times[recordedAt]!;
	const lastDay = recorded === undefined ? Math.floor(times.at(-1)!) : Math.floor(recorded) - 1;
	const end = times.findLastIndex((time) => Math.floor(time) <= lastDay) + 1;
	const known = { tokens: tokens.subarray(0, end), times: times.subarray(0, end) };
	const from = known.times[birthEvents] ?? lastDay;
	const to = Math.max(from, lastDay);
	const queryTimes = Float64Array.from(
		{ length: riskTimes },
		(_, index) => from + ((to - from) * index) / (riskTimes - 1),
	);
	const [[curve] = []] = await incidenceTrajectories(
		incidenceReader(hazards),
		[known],
		[target.tokens],
		[queryTimes],
		horizonDays,
	);
	const surges = curve!.surges.map((surge) => ({
		...surge,
		phenotypes: surge.events.map((event) => vocabulary.tokens[tokens[event]!]!.name),
	}));
	const { code, name } = target;
	return {
		patient: id,
		clock,
		horizonDays,
		now: known.times.at(-1) ?? to,
		death,
		events: [...known.times.subarray(birthEvents)],
		curves: [{ ...curve!, code, name, recordedAt: recorded, surges }],
	};
}

/** The patients whose stories are drawn. */
export function choosePatients(request: ReportRequest): Promise<Chosen[]> {
	const { trained, dataset, summary, seed, patients } = request;
	const targets = targetsOf(trained.vocabulary, summary);
	return patients
		? chosenByName(dataset, patients, targets)
		: chosenByRule(dataset, reportedSplit, targets, seed);
}

/** The records of each chosen patient, with the predictions; and, where none was named, two people before a diagnosis. */
export async function storiesOf(
	request: ReportRequest,
	chosen: readonly Chosen[],
): Promise<Pick<Report, "stories" | "onsetPair">> {
	const { trained, dataset, runtime, seed, patients: named, onStage } = request;
	const { vocabulary, model, config } = trained;
	const patients = [];
	const trainedOn = await trainedAmong(trained, dataset, chosen);
	const predictor = model.predictor(runtime, config, forecastWeights(trained));
	const hazards = (config as CodeConfig).hazards ? hazardModel(runtime, trained) : undefined;
	try {
		for (const [index, one] of chosen.entries()) {
			onStage(`drawing patient ${index + 1} of ${chosen.length}`);
			const { history, target } = one;
			const clock = clockOf(dataset, history);
			patients.push({
				trainedOn: trainedOn.has(history.id),
				target: target.name,
				trajectory: await trajectoryOf(predictor, vocabulary, one, clock),
				risk: hazards && (await riskOf(hazards, vocabulary, one, clock)),
			});
		}
		const rule = named ? "Chosen by the author of this report." : ruleText(chosen, seed);
		const onsetPair = named || !hazards ? undefined : await onsetPairOf(request, hazards);
		return { stories: { patients, rule }, onsetPair };
	} finally {
		await hazards?.dispose();
		await predictor.dispose();
	}
}

/** The ids of the chosen patients that the run was trained on, which may be a subset of the training split. */
async function trainedAmong(
	{ run }: ReportRequest["trained"],
	dataset: Dataset,
	chosen: readonly Chosen[],
): Promise<ReadonlySet<string>> {
	const ids = chosen.filter(({ split }) => split === "train").map(({ history }) => history.id);
	if (ids.length === 0) return new Set();
	const { before, options } = run;
	const seen = await datasetView(dataset, { before, trainPatients: options.trainPatients });
	const trained = new Set(Array.from(seen.patients("train"), (patient) => seen.idOf(patient)));
	return new Set(ids.filter((id) => trained.has(id)));
}

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

/**
 * The people at the 90th and at the 10th percentile of risk relative to people of their age and sex, one year before
 * the diagnosis, among all patients of the split in whom the first target with enough cases was first recorded;
 * undefined if none has enough. Without rates by age and sex, it is the risk itself that orders them.
 */
async function onsetPairOf(
	{ trained, dataset, summary, onStage }: ReportRequest,
	hazards: HazardModel,
): Promise<Report["onsetPair"]> {
	onStage("finding people before a diagnosis");
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
