import { random } from "../base/random.js";
import type { Dataset, DatasetSummary, Split } from "../cohort/index.js";
import {
	neighbourAgreement,
	type PatientMap,
	placeOnMap,
	removeCommonDirection,
	type TokenMap,
	type UmapOptions,
	umap,
} from "../figures/index.js";
import { taskOf } from "../figures/report/index.js";
import { learnedVectors } from "../infer/index.js";
import type { Runtime } from "../runtime/index.js";
import type { Trained } from "../train/index.js";
import { patientViews, viewVectors } from "./embed.js";

const pointsOf = (places: Float64Array) =>
	Array.from({ length: places.length / 2 }, (_, at) => ({
		x: places[2 * at] as number,
		y: places[2 * at + 1] as number,
	}));

/** A map of codes and decay vectors, and how often neighbouring codes share a category. */
export function tokenMap(trained: Trained, options: UmapOptions & { readonly seed: number }) {
	const { first, dim, vectors: learned } = learnedVectors(trained);
	const vectors = removeCommonDirection(learned, dim, random(options.seed).fork("common"));
	const tokens = trained.vocabulary.tokens.slice(first);
	const places = umap(vectors, dim, options);
	const decays = trained.model.decay?.vectors(trained.config, trained.weights) ?? [];
	const crosses = pointsOf(
		placeOnMap(
			places,
			vectors,
			decays.flatMap(({ vector }) => [...vector]),
			dim,
		),
	);
	const map: TokenMap = {
		tokens: pointsOf(places).map((point, at) => ({ ...point, ...tokens[at]! })),
		decays: decays.map(({ layer, head }, at) => ({ layer, head, ...crosses[at]! })),
	};
	return {
		map,
		agreement: neighbourAgreement(
			vectors,
			dim,
			tokens.map(({ category }) => category),
		),
	};
}

/** Larger splits are sampled down to this many patients. */
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

/** A map of patients, each at the time of their label. */
export async function patientMap(
	runtime: Runtime,
	trained: Trained,
	dataset: Dataset,
	summary: DatasetSummary,
	split: Split,
	options: UmapOptions & { readonly seed: number },
): Promise<PatientMap> {
	const task = mappedTask(summary, split);
	const all = await patientViews(dataset, split, task);
	const views = random(options.seed).fork("patient map").shuffle(all).slice(0, mostPatients);
	const { vectors, dim } = await viewVectors(runtime, trained, views);
	const names = task === undefined ? undefined : classNames[task];
	return {
		title: "Map of the patients",
		task: task === undefined ? "no task" : taskOf(task).title,
		...(names && { names }),
		patients: pointsOf(umap(vectors, dim, options)).map((point, at) => ({
			...point,
			positive: views[at]!.value,
		})),
	};
}
