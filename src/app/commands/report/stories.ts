import { InputError } from "../../../base/errors.js";
import { random } from "../../../base/random.js";
import { yearDays } from "../../../base/time.js";
import {
	type Dataset,
	type DatasetSummary,
	datasetView,
	type History,
	type Split,
	splitNames,
} from "../../../data/cohort/index.js";
import { specialCount, type Vocabulary } from "../../../data/cohort/vocabulary.js";
import type { Clock, DiseaseTrajectory, RiskPicture } from "../../../evaluate/charts/index.js";
import { rankOf } from "../../../evaluate/next/scores.js";
import type { Report } from "../../../evaluate/report/index.js";
import type { CodeConfig } from "../../../model/heads.js";
import type { Predictor } from "../../../model/index.js";
import { forecastWeights } from "../../../model/train/index.js";
import {
	type HazardModel,
	hazardModel,
	incidenceReader,
	incidenceTrajectories,
} from "../../../predict/index.js";
import { clockOf, type ReportRequest, reportedSplit } from "./figures.js";

const lookUpWindow = 50;
const fewestLater = 10;
/** Maximum records after the window to forecast. */
const mostLater = 100;
/** PheCodes of heart failure and diabetes, the diseases of the labelled tasks. */
const defaultDiseases = ["428", "250"];

/** A disease that a story is about, with all its tokens. */
export type Target = NonNullable<ReturnType<typeof targetOf>>;

/** Heart failure and diabetes where the vocabulary has them, else the most frequent code that few patients have. */
export function targetsOf(vocabulary: Vocabulary, { codes, all }: DatasetSummary): Target[] {
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

/** The records of each chosen patient, with the predictions. */
export async function storiesOf(
	{ trained, dataset, runtime, seed, patients, onStage }: ReportRequest,
	chosen: readonly Chosen[],
): Promise<Report["stories"]> {
	const { vocabulary, model, config } = trained;
	const stories = [];
	const trainedOn = await trainedAmong(trained, dataset, chosen);
	const predictor = model.predictor(runtime, config, forecastWeights(trained));
	const hazards = (config as CodeConfig).hazards ? hazardModel(runtime, trained) : undefined;
	try {
		for (const [index, one] of chosen.entries()) {
			onStage(`drawing patient ${index + 1} of ${chosen.length}`);
			const { history, target } = one;
			const clock = clockOf(dataset, history);
			stories.push({
				trainedOn: trainedOn.has(history.id),
				target: target.name,
				trajectory: await trajectoryOf(predictor, vocabulary, one, clock),
				risk: hazards && (await riskOf(hazards, vocabulary, one, clock)),
			});
		}
	} finally {
		await hazards?.dispose();
		await predictor.dispose();
	}
	return {
		patients: stories,
		rule: patients ? "Chosen by the author of this report." : ruleText(chosen, seed),
	};
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
