import { evenlySpread, takenOf } from "../../../base/arrays.js";
import { random } from "../../../base/random.js";
import type { Dataset, DatasetSummary, Split } from "../../../data/cohort/index.js";
import type { Runtime } from "../../../engine/runtime/index.js";
import type { PatientMap } from "../../../evaluate/charts/maps/map-figures.js";
import {
	type NeighbourAgreement,
	neighbourAgreement,
	placeOnMap,
	removeCommonDirection,
	umap,
} from "../../../evaluate/charts/maps/umap.js";
import { type Report, taskOf } from "../../../evaluate/report/index.js";
import type { Trained } from "../../../model/train/index.js";
import { headMemory, learnedVectors, representations } from "../../../predict/index.js";
import { patientViews } from "../../../predict/trained/open.js";

export interface ReportRequest extends Pick<Report, "summary" | "simulated"> {
	readonly trained: Trained;
	readonly dataset: Dataset;
	readonly runtime: Runtime;
	readonly seed: number;
	/** Ids of the patients to show; chosen by rule by default. */
	readonly patients: readonly string[] | undefined;
	/** Whether to draw a map with one mark per patient. */
	readonly patientMap: boolean;
	readonly onStage: (text: string) => void;
}

/** The patients that the report is about. */
export const reportedSplit: Split = "test";

const pointsOf = (places: Float64Array) =>
	Array.from({ length: places.length / 2 }, (_, at) => ({
		x: places[2 * at] as number,
		y: places[2 * at + 1] as number,
	}));

/** What a run has learned of its codes, with the direction that all share taken out. */
function codeVectors(trained: Trained, seed: number) {
	const { first, dim, vectors } = learnedVectors(trained);
	return {
		dim,
		vectors: removeCommonDirection(vectors, dim, random(seed).fork("common")),
		tokens: trained.vocabulary.tokens.slice(first),
	};
}

/** How often the codes nearest to a code, in the model's space, share its category. */
export function codeAgreement(trained: Trained, seed: number): NeighbourAgreement | undefined {
	const { vectors, dim, tokens } = codeVectors(trained, seed);
	const categories = tokens.map(({ category }) => category);
	return neighbourAgreement(vectors, dim, categories);
}

/** The map of the codes, and whether neighbours are alike. */
export function codeMap({ trained, seed, onStage }: ReportRequest): Report["codes"] {
	onStage("drawing the codes");
	const { dim, vectors, tokens } = codeVectors(trained, seed);
	const places = umap(vectors, dim, { seed });
	const decays = trained.model.decay?.vectors(trained.config, trained.weights) ?? [];
	const decayVectors = decays.flatMap(({ vector }) => [...vector]);
	const crosses = pointsOf(placeOnMap(places, vectors, decayVectors, dim));
	return {
		map: {
			tokens: pointsOf(places).map((point, at) => ({ ...point, ...tokens[at]! })),
			decays: decays.map(({ layer, head }, at) => ({ layer, head, ...crosses[at]! })),
		},
		agreement: codeAgreement(trained, seed),
	};
}

/** The default number of patients that larger splits are sampled down to. */
const mostPatients = 2000;

const classNames: Readonly<Record<string, { positive: string; negative: string }>> = {
	insulin: { positive: "insulin within 6 months", negative: "no insulin" },
	"chf-paper": { positive: "heart failure next", negative: "no heart failure" },
};

/** The task with the most positive labels in a split. */
function mappedTask({ labels }: DatasetSummary, split: Split): string | undefined {
	const [best] = labels
		.filter(({ splits }) => splits[split].labels > 0)
		.toSorted((a, b) => b.splits[split].positive - a.splits[split].positive);
	return best?.task;
}

/**
 * A map of at most `most` patients, each at the time of their label; how many they were drawn `of`; and how often the
 * patients nearest to a patient, in the model's space, have the same sex.
 */
export async function patientMap(
	{
		runtime,
		trained,
		dataset,
		summary,
		seed,
		onStage,
	}: Omit<ReportRequest, "patients" | "patientMap" | "simulated">,
	most = mostPatients,
) {
	onStage("drawing the patients");
	const split = reportedSplit;
	const task = mappedTask(summary, split);
	const patients = await patientViews(dataset, split, task);
	const all = random(seed).fork("patient map").shuffle(patients);
	const views = all.slice(0, most);
	const vectors = await representations(runtime, trained, views);
	const dim = vectors.length / views.length;
	const names = task === undefined ? undefined : classNames[task];
	const map: PatientMap = {
		task: task === undefined ? "no task" : taskOf(task).title,
		names,
		patients: pointsOf(umap(vectors, dim, { seed })).map((point, at) => ({
			...point,
			positive: views[at]!.value,
		})),
	};
	// One view per patient: a second view of the same patient would be the nearest neighbour.
	const seen = new Set<string>();
	const agreement = neighbourAgreement(
		vectors,
		dim,
		views.map(({ id, sex }) => (seen.size < seen.add(id).size ? sex : null)),
	);
	return { map, of: all.length, agreement };
}

/** Test patients whose records the half-lives are averaged over, at most. */
const mostRemembered = 5000;

/** The half-lives of the heads; undefined if the model has none. */
export async function memoryOf({ runtime, trained, dataset, onStage }: ReportRequest) {
	onStage("measuring memory");
	if (!trained.model.decay) return undefined;
	const patients = dataset.patients(reportedSplit);
	const histories = [];
	for (const patient of evenlySpread(patients, mostRemembered))
		histories.push(await dataset.read(patient));
	return {
		...(await headMemory(runtime, trained, histories)),
		patients: patients.length > mostRemembered ? takenOf(patients.length, mostRemembered) : "the",
	};
}
