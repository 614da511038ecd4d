import { existsSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { InputError } from "../../../base/errors.js";
import { replaceFile } from "../../../base/files/index.js";
import { ownPackage } from "../../../base/files/versions.js";
import { silentProgress } from "../../../base/progress.js";
import { random } from "../../../base/random.js";
import { yearDays } from "../../../base/time.js";
import { builtInMap } from "../../../data/codes/index.js";
import type { Dataset } from "../../../data/cohort/index.js";
import { roundUpTimeRange } from "../../../data/cohort/privacy-rounding.js";
import { readingRules } from "../../../data/cohort/reading/rules.js";
import { patientNumber } from "../../../data/simulate/index.js";
import type { Runtime } from "../../../engine/runtime/index.js";
import { type Evaluation, evaluationsOf, isSimulated } from "../../../evaluate/index.js";
import { modelCard } from "../../../evaluate/report/index.js";
import { findSimulationTruth } from "../../../evaluate/simulation-truth.js";
import { type HazardSettings, outputsOf } from "../../../model/hazards/settings.js";
import { weightCount } from "../../../model/index.js";
import { readEventLog } from "../../../model/train/event-log.js";
import { openRunDataset, readRates, runFiles, type Trained } from "../../../model/train/index.js";
import { exportVersion, manifestFile } from "../../../predict/export/manifest.js";
import { sha256 } from "../../../predict/export/sha256.js";
import { weightBytes } from "../../../predict/export/weight-files.js";
import { writeExport } from "../../../predict/export/write-export.js";
import { headMemory } from "../../../predict/index.js";
import type { Monitoring } from "../pretrain/training.js";
import { peopleDocument } from "./explorer-people.js";

export interface ExplorerOptions extends Pick<Monitoring, "progress"> {
	/** The run's dataset, if it was moved. */
	readonly dataset?: string | undefined;
	/** Whether to show patients of a dataset that is not simulated. */
	readonly samples?: boolean | undefined;
	readonly runtime: Runtime;
}

const seed = 0;

/**
 * Makes the documents that the explorer reads, by URL path: memory of heads, sample patients, evaluations and facts on
 * the run. They are cached in `explorer/` of the run until its weights change, except documents on real patients.
 * `model` is the folder of the exported model.
 */
export async function explorerData(trained: Trained, options: ExplorerOptions) {
	const { folder, manifest } = trained;
	const { progress = silentProgress, runtime } = options;
	const isThere =
		options.dataset !== undefined || existsSync(join(folder, trained.run.datasetFolder));
	const dataset = isThere ? await openRunDataset(folder, trained.run, options.dataset) : undefined;
	const simulated = dataset !== undefined && (await isSimulated(dataset));
	const maySee = dataset !== undefined && (options.samples === true || simulated);
	const weights = await sha256(weightBytes(trained.weights));
	const cache = join(folder, "explorer");
	const madeFor = {
		format: 7,
		weights,
		dataset: manifest.contentHash,
		patients: maySee,
		records: dataset !== undefined,
	};
	const exported = join(cache, "export");
	const evaluations = await evaluationsOf(folder);
	const card = modelCard(trained, evaluations);
	const { task, step, config } = trained;
	const exportedFor = {
		version: exportVersion,
		weights,
		task: task && { ...task.scoring, weights: await sha256(weightBytes(task.weights)) },
		step,
		dataset: manifest.contentHash,
		config,
		card,
	};
	// Without the export itself, the key of an earlier one says nothing.
	if (!existsSync(join(exported, manifestFile)))
		await rm(join(cache, "export.json"), { force: true });
	await cached(join(cache, "export.json"), exportedFor, async () => {
		progress.finish("exporting the model");
		await exportForPage(trained, exported, card);
		return {};
	});
	const documents = new Map<string, string>();
	const add = async (
		name: string,
		doing: string,
		make: () => Promise<object>,
		isCached = true,
	): Promise<void> => {
		const made = () => {
			progress.finish(doing);
			return make();
		};
		const text = isCached
			? await cached(join(cache, name), madeFor, made)
			: JSON.stringify(await made());
		documents.set(`/explorer/${name}`, text);
	};
	/** Documents on patients are cached on disk only if all patients are simulated. */
	const areCached = simulated || !maySee;
	const samples = maySee ? sampleNumbers(dataset, seed) : [];
	await add("memory.json", "measuring memory", () =>
		memoryDocument(runtime, trained, dataset, seed),
	);
	await add("usual.json", "measuring usual histories", async () => ({
		usual: dataset ? await usualHistories(dataset, seed) : null,
	}));
	await add(
		"samples.json",
		"choosing sample patients",
		async () => ({
			patients: maySee ? await samplePatients(dataset, samples) : [],
			axis: manifest.source.axis,
		}),
		areCached,
	);
	await add(
		"people.json",
		"choosing people to compare with",
		async () => ({
			people: maySee ? await peopleDocument(runtime, trained, dataset, seed, samples) : null,
		}),
		areCached,
	);
	documents.set("/explorer/rates.json", JSON.stringify({ rates: ratesOf(trained) ?? null }));
	documents.set("/explorer/evaluation.json", measured(evaluations));
	documents.set("/explorer/about.json", JSON.stringify(aboutRun(trained, card)));
	progress.finish();
	const moved =
		"the run's dataset was moved: sample patients and memory are not shown; pass its folder as `dataset`";
	return { documents, model: exported, notes: isThere ? [] : [moved] };
}

async function exportForPage(trained: Trained, folder: string, modelCard: string): Promise<void> {
	try {
		await writeExport(trained, folder, { weights: "external", modelCard });
	} catch (error) {
		if (!(error instanceof InputError)) throw error;
		throw new InputError(
			`the explorer needs an export of the model: ${error.message}; to serve the API alone, pass \`explorer: false\``,
			{ cause: error },
		);
	}
}

/** The rates of first records by age and sex; undefined if the run has no hazards or no rates. */
function ratesOf({ folder, config, vocabulary }: Trained) {
	const { hazards } = config as { readonly hazards?: HazardSettings | null };
	return hazards ? readRates(folder, outputsOf(hazards, vocabulary.size).count) : undefined;
}

/** The evaluations without data per patient. */
const measured = (evaluations: readonly Evaluation[]): string =>
	JSON.stringify({
		evaluations: evaluations.map(({ windows: _, rows, ...rest }) => ({
			...rest,
			rows: rows.map(({ byPatient: __, byDraw: ___, ...row }) => row),
		})),
	});

/** `about.json`: the facts of the model. */
export type About = ReturnType<typeof aboutRun>;

function aboutRun(trained: Trained, card: string) {
	const { model, config, weights, run, step, manifest } = trained;
	const { counts, source, labels, reach, codes } = manifest;
	return {
		model: { id: model.id, name: model.name, cite: model.cite },
		config: config as Readonly<Record<string, unknown>>,
		parameters: weightCount(weights),
		dataset: {
			counts,
			labels,
			reach: reach ? roundUpTimeRange(reach) : null,
			format: source.format,
			axis: source.axis,
			contentHash: manifest.contentHash,
		},
		records: {
			...readingRules(manifest),
			map: codes.map === null || codes.map === builtInMap().source ? codes.map : "a file",
		},
		versions: { ...run.versions, serving: ownPackage.version },
		training: {
			epochs: run.options.epochs,
			seed: run.options.seed,
			step,
			bestLoss: bestLoss(trained),
		},
		modelCard: card,
	};
}

/** The next-event validation loss of the best epoch, in nats; null if the log has none. */
function bestLoss({ folder, step }: Trained): number | null {
	const { log } = runFiles(folder);
	if (!existsSync(log)) return null;
	const best = readEventLog(log).find((event) => event.step === step && event.valid !== undefined);
	const { next } = (best?.valid ?? {}) as { readonly next?: unknown };
	return typeof next === "number" ? next : null;
}

/** The text of a document in a file, made anew unless it was made for the same key, which it holds as `made`. */
async function cached(
	file: string,
	madeFor: Readonly<Record<string, unknown>>,
	make: () => Promise<object>,
): Promise<string> {
	try {
		const text = await readFile(file, "utf8");
		const { made } = JSON.parse(text) as { readonly made?: unknown };
		if (JSON.stringify(made) === JSON.stringify(madeFor)) return text;
	} catch {
		// There is none, or it is damaged.
	}
	const text = `${JSON.stringify({ made: madeFor, ...(await make()) })}\n`;
	await replaceFile(file, (partial) => writeFile(partial, text));
	return text;
}

/** Enough events for the mean rate of a category, in a few seconds for any dataset. */
const enoughEvents = 30_000;

/** Test patients drawn at random until they have enough events. */
export function drawnPatients(
	dataset: Pick<Dataset, "patients" | "lengthOf">,
	seed: number,
	enough = enoughEvents,
): number[] {
	const all = random(seed)
		.fork("memory")
		.shuffle([...dataset.patients("test")]);
	let events = 0;
	const end = all.findIndex((patient) => {
		events += dataset.lengthOf(patient);
		return events >= enough;
	});
	return end < 0 ? all : all.slice(0, end + 1);
}

/** `memory.json`: the memory of each head by category, and the patients it was measured on. */
async function memoryDocument(
	runtime: Runtime,
	trained: Trained,
	dataset: Dataset | undefined,
	seed: number,
) {
	const noMemory = { categories: [], events: [], heads: [], unit: "days" };
	if (!dataset || !trained.model.decay) return noMemory;
	const histories = [];
	for (const patient of drawnPatients(dataset, seed)) histories.push(await dataset.read(patient));
	const of = dataset.patients("test").length;
	return {
		...(await headMemory(runtime, trained, histories)),
		drawn: { split: "test", patients: histories.length, of, seed },
	};
}

const mostSamples = 24;
const [fewestEvents, mostEvents] = [20, 400];

function sampleNumbers(dataset: Dataset, seed: number): number[] {
	const fitting = [...dataset.patients("test")].filter((patient) => {
		const events = dataset.lengthOf(patient) - dataset.birthEventsOf(patient);
		return events >= fewestEvents && events <= mostEvents;
	});
	return random(seed).fork("samples").shuffle(fitting).slice(0, mostSamples);
}

export type SamplePatient = Awaited<ReturnType<typeof samplePatients>>[number];

/** Sample patients, under new names. */
async function samplePatients(dataset: Dataset, drawn: readonly number[]) {
	const truth = await findSimulationTruth(dataset, { split: "test" }, [], "incidence");
	const patients = [];
	for (const [at, patient] of drawn.entries()) {
		const { id, tokens, times, sex, birthEvents, death } = await dataset.read(patient);
		const person = patientNumber(id);
		patients.push({
			...(truth && person !== undefined && { simulation: { seed: truth.seed, person } }),
			id: `s${at + 1}`,
			death,
			name: `Sample ${at + 1}`,
			birthTime: birthEvents ? (times[0] as number) : null,
			sex,
			events: Array.from(tokens.subarray(birthEvents), (token, event) => ({
				token,
				time: times[birthEvents + event] as number,
			})),
		});
	}
	return patients;
}

/** What is usual among training patients: 98 % lie within each range. */
export type UsualHistories = NonNullable<Awaited<ReturnType<typeof usualHistories>>>;

const drawn = 1000;
/** With fewer, a quantile would be about single patients. */
const fewest = 200;
const tail = 0.01;

/** Two digits: the numbers are about nobody in particular. */
const rounded = (value: number) => Number(value.toPrecision(2));

function quantile(values: readonly number[], share: number): number {
	const sorted = [...values].sort((a, b) => a - b);
	return rounded(sorted[Math.round(share * (sorted.length - 1))] as number);
}

/** Measures patients of the training split, drawn at random; null if there are too few. */
export async function usualHistories(dataset: Pick<Dataset, "patients" | "read">, seed: number) {
	const all = random(seed)
		.fork("usual")
		.shuffle([...dataset.patients("train")]);
	const [rates, first, last]: number[][] = [[], [], []];
	for (const patient of all.slice(0, drawn)) {
		const { times, birthEvents } = await dataset.read(patient);
		const recordTimes = times.subarray(birthEvents);
		if (recordTimes.length === 0) continue;
		const [from, to] = [recordTimes[0] as number, recordTimes.at(-1) as number];
		rates?.push(recordTimes.length / Math.max(1, (to - from) / yearDays));
		if (birthEvents === 0) continue;
		first?.push((from - (times[0] as number)) / yearDays);
		last?.push((to - (times[0] as number)) / yearDays);
	}
	if (!rates || !first || !last || rates.length < fewest) return null;
	return {
		/** Of histories shorter than a year, the events. */
		eventsPerYear: [quantile(rates, tail), quantile(rates, 1 - tail)] as const,
		/** At the first and the last record, in years; null if births are not known. */
		ages:
			first.length < fewest ? null : ([quantile(first, tail), quantile(last, 1 - tail)] as const),
	};
}
