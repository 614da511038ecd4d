import { random } from "../../base/random.js";
import type { Dataset } from "../../cohort/index.js";
import { headMemory } from "../../infer/index.js";
import type { Runtime } from "../../runtime/index.js";
import type { Trained } from "../../train/index.js";

/** Enough for the mean rate of a category, and a few seconds of work whatever the dataset's size. */
const enoughEvents = 30_000;

/** Test patients drawn at random, until they have events enough. */
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

/** `memory.json`: how long each head remembers, by category, and whom that was measured in. */
export async function memoryDocument(
	runtime: Runtime,
	trained: Trained,
	dataset: Dataset | undefined,
	seed: number,
) {
	const nothing = { categories: [], events: [], heads: [], unit: "days" };
	if (!dataset || !trained.model.forgetting) return nothing;
	const histories = [];
	for (const patient of drawnPatients(dataset, seed)) histories.push(await dataset.read(patient));
	const of = dataset.patients("test").length;
	return {
		...(await headMemory(runtime, trained, histories)),
		drawn: { split: "test", patients: histories.length, of, seed },
	};
}
