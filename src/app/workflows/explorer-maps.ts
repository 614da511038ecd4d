import type { Progress } from "../../base/progress.js";
import { yearDays } from "../../base/time.js";
import { type Dataset, summarize } from "../../data/cohort/index.js";
import { birthToken, specialCount } from "../../data/cohort/vocabulary.js";
import type { Runtime } from "../../engine/runtime/index.js";
import { directionsOf, nearest } from "../../evaluate/charts/maps/neighbours.js";
import { taskOf } from "../../evaluate/report/index.js";
import type { Trained } from "../../model/train/index.js";
import type { PatientView } from "./embed.js";
import { mappedPatients, namesOfClasses, tokenMap } from "./maps.js";

interface MapsOptions {
	readonly runtime: Runtime;
	/** The dataset, if its patients may be shown. */
	readonly dataset: Dataset | undefined;
	/** Names of the sample patients by id: they are on the map, and can be opened. */
	readonly samples: ReadonlyMap<string, string>;
	readonly progress: Progress;
	readonly seed: number;
}

const neighbours = 8;

/** `maps.json`: codes with their nearest codes in the model's space; patients with their vectors. */
export async function mapsDocument(trained: Trained, options: MapsOptions) {
	const { progress, seed } = options;
	const drawing = (of: string) => ({
		seed,
		onRound: (done: number, total: number) =>
			progress.update({ label: `map of ${of}, round`, done, total }),
	});
	const { map, vectors, dim } = tokenMap(trained, drawing("codes"));
	const own = directionsOf(vectors, dim);
	const { indices, distances } = nearest(own, own, neighbours + 1);
	return {
		tokens: map.tokens.map((point, at) => ({
			...{ token: specialCount + at, ...rounded(point) },
			near: (indices[at] ?? []).flatMap((other, rank) =>
				other === at
					? []
					: [
							{
								token: specialCount + other,
								likeness: likeness(distances[at]?.[rank] ?? 0),
							},
						],
			),
		})),
		...(await patientsOf(trained, options, drawing("patients"))),
	};
}

const hundredths = (value: number) => Math.round(100 * value) / 100;

const rounded = ({ x, y }: { readonly x: number; readonly y: number }) => ({
	x: Math.round(1e4 * x) / 1e4,
	y: Math.round(1e4 * y) / 1e4,
});

/** The cosine of two directions, from their distance. */
const likeness = (distance: number) => hundredths(1 - distance ** 2 / 2);

async function patientsOf(
	trained: Trained,
	{ runtime, dataset, samples }: MapsOptions,
	drawing: { readonly seed: number },
) {
	if (!dataset) return { patients: [], outcome: null, vectors: null };
	const { task, views, vectors, dim, points } = await mappedPatients(
		...([runtime, trained, dataset, await summarize(dataset), "test"] as const),
		{ ...drawing, include: [...samples.keys()] },
	);
	const { positive = "yes", negative = "no" } = namesOfClasses(task) ?? {};
	return {
		patients: views.map((view, at) => ({
			...rounded(points[at] as { x: number; y: number }),
			outcome: view.value === null ? null : view.value ? positive : negative,
			...personOf(view),
			records: view.events,
			...(samples.has(view.id) && { sample: samples.get(view.id) }),
		})),
		outcome: task === undefined ? null : taskOf(task).title,
		vectors: { dim, bytes: Buffer.from(bytesOf(vectors, dim).buffer).toString("base64") },
	};
}

/** Age in years and sex, from the birth with which a history begins. */
function personOf({ tokens, times, at }: PatientView) {
	const sexes = ["female", "male", null] as const;
	const sex = sexes.find((one) => birthToken(one) === tokens[0]);
	return sex === undefined
		? { age: null, sex: null }
		: { age: Math.floor((at - (times[0] as number)) / yearDays), sex };
}

/** The directions of vectors, in one byte per number: enough to find neighbours. */
export function bytesOf(vectors: ArrayLike<number>, dim: number): Int8Array {
	const { values, count } = directionsOf(vectors, dim);
	const bytes = new Int8Array(values.length);
	for (let row = 0; row < count; row++) {
		const own = values.subarray(row * dim, (row + 1) * dim);
		const most = own.reduce((largest, value) => Math.max(largest, Math.abs(value)), 0) || 1;
		for (let d = 0; d < dim; d++)
			bytes[row * dim + d] = Math.round((127 * (own[d] as number)) / most);
	}
	return bytes;
}
