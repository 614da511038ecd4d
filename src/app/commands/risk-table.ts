import { oneProcess } from "../../base/communicator.js";
import { InputError } from "../../base/errors.js";
import {
	type Column,
	type ColumnWriter,
	columnFormat,
	columnsOf,
	openColumns,
} from "../../base/files/column-file.js";
import { replaceFile } from "../../base/files/index.js";
import { silentProgress } from "../../base/progress.js";
import { isoDate, type TimeAxis, yearDays } from "../../base/time.js";
import { whyNotAtRisk } from "../../data/cohort/at-risk.js";
import {
	type Dataset,
	type History,
	type NewPatient,
	type Split,
	splitNames,
} from "../../data/cohort/index.js";
import { specialCount, type Vocabulary } from "../../data/cohort/vocabulary.js";
import { type ComputeOptions, threadsOf } from "../../engine/runtime/open-runtime.js";
import { drawOf, indexDay, indexRuleFor } from "../../evaluate/onset/index-days.js";
import type { Trained } from "../../model/train/index.js";
import { checkTableFile } from "../../model/train/output-file.js";
import { eventsOf, knownCount } from "../../predict/histories.js";
import { cutHorizons, type IncidenceReader, independenceNotes } from "../../predict/incidence.js";
import { indexRisks } from "../../predict/risk/answer.js";
import { type Horizon, hazardBook, readCodes } from "../../predict/risk/question.js";
import { type QueriedPatients, withCalls } from "../../predict/trained/open.js";
import type { FoundCode } from "../../predict/user-input/find-code.js";
import { nothingRecorded, usualYears, warningsFor } from "../../predict/user-input/moments.js";
import { hasSameTokens } from "./evaluate/runs.js";
import { choice, file, folder, inGroup, type Optional, seed, text, type Values } from "./fields.js";
import type { Monitoring } from "./pretrain/training.js";

export const manyFields = inGroup("Many patients:", {
	data: folder("score every patient of a dataset, on one index day each"),
	output: file(
		"Parquet or CSV file for all patients of --data or --input: a row per patient and code",
	),
	index: text("rule", "index days: last (record), random, visit, a date, or age:N (default: last)"),
	split: choice("name", "only the patients of this split", splitNames),
	seed: seed.optional().describe("seed of random index days and of futures (default: 0)"),
});

interface CohortRiskOptions
	extends ComputeOptions,
		Pick<Monitoring, "progress">,
		Optional<Values<typeof manyFields>, "index" | "seed"> {
	readonly output: string;
	readonly force?: boolean;
	/** Codes as users write them, and names of groups. Default: every code of the vocabulary. */
	readonly code?: readonly string[];
	readonly years?: readonly number[];
}

const batchSize = 256;

/** The patients of a dataset, or new ones. */
type Cohort = ReturnType<typeof newCohort>;

interface Indexed {
	readonly history: History;
	readonly day: number;
	readonly atRisk: boolean;
	/** The tokens of the records up to the day. */
	readonly known: ReadonlySet<number>;
}

export function datasetCohort(
	trained: Trained,
	dataset: Dataset,
	split: Split | undefined,
): Cohort {
	if (!hasSameTokens(trained, dataset))
		throw new InputError(
			`${dataset.folder} has another vocabulary than ${trained.folder}; use the dataset of the run, one prepared with \`trajgpt prepare … --like ${trained.folder}\`, or give the records with \`input\``,
		);
	const patients = (split ? [split] : splitNames).flatMap((part) => [...dataset.patients(part)]);
	return {
		name: dataset.folder,
		axis: dataset.manifest.source.axis,
		map: undefined,
		count: patients.length,
		async read(patient) {
			const history = await dataset.read(patients[patient] as number);
			return { history, lastRecord: history.times.at(-1) ?? null };
		},
		warnings: () => [],
	};
}

export function newCohort({ manifest }: Trained, queried: QueriedPatients) {
	const { patients, axis, map } = queried;
	return {
		name: "the input",
		axis,
		/** Maps codes that users write, if there is one. */
		map,
		count: patients.length,
		/** A patient by number, with the time of the last record, if there is one. */
		read: async (patient: number): Promise<Pick<NewPatient, "history" | "lastRecord">> =>
			patients[patient] as NewPatient,
		/** Caveats on patients, by number, with their index days. */
		warnings(days: ReadonlyMap<number, number>) {
			const indexed = Array.from(days, ([patient, time]) => ({
				patient: patients[patient] as NewPatient,
				time,
			}));
			return warningsFor(queried, indexed, manifest, nothingRecorded);
		},
	};
}

export type CohortRisks = Awaited<ReturnType<typeof cohortRisks>>;

/**
 * Writes the risks of every patient on one index day: one row per patient and code, one column per horizon. Where a
 * code is recorded by the index day, the risk is that of another record.
 */
export async function cohortRisks(trained: Trained, cohort: Cohort, options: CohortRiskOptions) {
	const { output, years = usualYears, index = "last", seed = 0 } = options;
	const { progress = silentProgress } = options;
	await checkTableFile(output, options.force);
	const { book, ...hazards } = hazardBook({ ...trained, map: cohort.map });
	const { settings } = hazards;
	const codes = options.code ? readCodes(options.code, book) : allCodes(trained.vocabulary);
	const { horizons, warnings } = horizonsOf(years, hazards.longestDays);
	const rule = index === "last" ? undefined : indexRuleFor(index, cohort.axis, cohort.name);
	const dayOf = (history: History, lastRecord: number | null) => {
		if (rule) return indexDay(history, rule, drawOf(seed, history.id), settings.lookBackDays);
		return lastRecord === null ? "without a record" : Math.floor(lastRecord);
	};
	const days = new Map<number, number>();
	/** Patients without an index day, by reason. */
	const excluded: Record<string, number> = {};
	/** Patients who were not at risk on their index day, by reason: their risks are extrapolated. */
	const notAtRisk: Record<string, number> = {};
	const began = performance.now();
	let written = 0;
	/** The patients of a batch with an index day; counts the others. */
	const indexedIn = async (from: number): Promise<Indexed[]> => {
		const indexed: Indexed[] = [];
		for (let patient = from; patient < Math.min(from + batchSize, cohort.count); patient++) {
			const { history, lastRecord } = await cohort.read(patient);
			const day = knownDay(history, dayOf(history, lastRecord));
			if (typeof day === "string") {
				excluded[day] = (excluded[day] ?? 0) + 1;
				continue;
			}
			const reason = whyNotAtRisk(history, day, settings.lookBackDays);
			if (reason !== null) notAtRisk[reason] = (notAtRisk[reason] ?? 0) + 1;
			const known = new Set(eventsOf(history, 0, knownCount(history, day)).tokens);
			indexed.push({ history, day, atRisk: reason === null, known });
			days.set(patient, day);
		}
		return indexed;
	};
	const { communicator: job = oneProcess, ...compute } = options;
	const threads = options.threads ?? threadsOf(trained, job);
	await withCalls(trained, { ...compute, threads }, async ({ incidence }) => {
		const score = async (file: ColumnWriter | undefined) => {
			// Of each round, a process scores one batch.
			for (let round = 0; round < cohort.count; round += batchSize * job.size) {
				const batches: Indexed[][] = [];
				for (let i = 0; i < job.size; i++) batches.push(await indexedIn(round + i * batchSize));
				const batch = batches[job.rank] as Indexed[];
				const batchRisks = await risksOf(incidence, batch, codes, horizons);
				const all = job.gather(new Uint8Array(batchRisks.buffer));
				for (const [i, batch] of batches.entries()) {
					written += batch.length;
					const risks = all && new Float64Array((all[i] as Uint8Array).slice().buffer);
					if (risks && batch.length > 0)
						await file?.add(riskColumns(batch, risks, codes, horizons, cohort.axis));
				}
				progress.update({
					label: "risks: patient",
					done: Math.min(round + batchSize * job.size, cohort.count),
					total: cohort.count,
					fields: [],
				});
			}
			progress.finish();
			await file?.close();
			// Within the replacement, so that an earlier file stays.
			if (written === 0)
				throw new InputError(
					`${cohort.name}: no patient has an index day by "${index}"; choose another \`index\``,
					{ field: "index", value: index },
				);
		};
		if (job.rank > 0) return score(undefined);
		await replaceFile(output, async (partial) =>
			score(await openColumns(partial, columnFormat(output))),
		);
	});
	return {
		file: output,
		patients: written,
		codes: codes.length,
		excluded,
		notAtRisk,
		seconds: (performance.now() - began) / 1000,
		simulated: trained.run.simulated === true,
		notes: [...codes.flatMap(({ note }) => note ?? []), ...independenceNotes(hazards, codes)],
		warnings: [...warnings, ...cohort.warnings(days)],
	};
}

/** The horizons that are answered, each once: those beyond what the model has learned are one. */
function horizonsOf(years: readonly number[], longestDays: number) {
	const twice = years.find((span, at) => years.indexOf(span) < at);
	if (twice !== undefined)
		throw new InputError(`\`years\` has ${twice} twice; give each horizon once`, {
			field: "years",
			value: twice,
		});
	const asked = years.map((span) => span * yearDays);
	const { days, warnings } = cutHorizons({ longestDays }, asked);
	const horizons = new Map<number, Horizon>();
	for (const [at, day] of days.entries()) {
		const isCut = (asked[at] as number) > longestDays + 1;
		const answered = isCut ? Number((longestDays / yearDays).toFixed(2)) : (years[at] as number);
		horizons.set(answered, { years: answered, days: day });
	}
	return { horizons: [...horizons.values()], warnings };
}

/** An index day, or why nothing is known of a patient on it: hazards would be meaningless. */
function knownDay({ times, birthEvents }: History, day: number | string): number | string {
	if (typeof day === "string" || Math.floor(times[0] as number) <= day) return day;
	return birthEvents === 1 ? "not born yet" : "without a record yet";
}

const allCodes = ({ tokens }: Vocabulary): readonly FoundCode[] =>
	tokens.slice(specialCount).map(({ code, name }, at) => ({
		code,
		name,
		tokens: [specialCount + at],
	}));

/** The risks of patients: [patients, codes, horizons]. */
async function risksOf(
	incidence: IncidenceReader,
	indexed: readonly Indexed[],
	codes: readonly FoundCode[],
	horizons: readonly Horizon[],
): Promise<Float64Array> {
	const risks = await indexRisks(
		incidence,
		indexed.map(({ history }) => history),
		codes,
		indexed.map(({ day }) => day),
		horizons.map(({ days }) => days),
	);
	return Float64Array.from(risks.flat().flatMap(({ probabilities }) => probabilities));
}

function riskColumns(
	indexed: readonly Indexed[],
	risks: Float64Array,
	codes: readonly FoundCode[],
	horizons: readonly Horizon[],
	axis: TimeAxis,
): Column[] {
	const rows = indexed.flatMap((patient) => codes.map((code) => ({ ...patient, code })));
	return [
		...columnsOf(rows, {
			patient: ["text", ({ history }) => history.id],
			date: axis === "dates" && ["text", ({ day }) => isoDate(day)],
			day: axis !== "dates" && ["number", ({ day }) => day],
			at_risk: ["flag", ({ atRisk }) => atRisk],
			code: ["text", ({ code }) => code.code],
			name: ["text", ({ code }) => code.name],
			recorded: ["flag", ({ known, code }) => code.tokens.some((token) => known.has(token))],
		}),
		...horizons.flatMap(({ years }, horizon) =>
			columnsOf(rows, {
				[`risk_${years}y`]: [
					"number",
					(_, row) => risks[row * horizons.length + horizon] as number,
				],
			}),
		),
	];
}
