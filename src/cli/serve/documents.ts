import { existsSync, readFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { builtInMap } from "../../codes/index.js";
import { type Dataset, summarize } from "../../cohort/index.js";
import { specialCount } from "../../cohort/vocabulary.js";
import { readEvaluation } from "../../evaluate/index.js";
import { writeExport } from "../../export/index.js";
import { headMemory } from "../../infer/index.js";
import type { Runtime } from "../../runtime/index.js";
import { readEventLog } from "../../train/event-log.js";
import { openRunDataset, runFiles, type Trained } from "../../train/index.js";
import { patientMap, tokenMap } from "../report/maps.js";
import { ownPackage } from "../version.js";
import { cacheIn } from "./cache.js";
import { isSimulated, samplePatients } from "./samples.js";

export interface ExplorerOptions {
	/** Where the dataset is, if it was moved. */
	readonly dataset?: string | undefined;
	/** Show patients of a dataset that is not simulated. */
	readonly samples?: boolean | undefined;
	readonly runtime: Runtime;
	readonly stage: (text: string) => void;
}

/** What the page shows of a run: documents by their address, and the folder of the export. */
export interface ExplorerData {
	readonly documents: ReadonlyMap<string, string>;
	readonly model: string;
	readonly notes: readonly string[];
}

const seed = 0;

export async function explorerData(
	trained: Trained,
	options: ExplorerOptions,
): Promise<ExplorerData> {
	const { folder, step, manifest, model } = trained;
	const { stage, runtime } = options;
	const { dataset, note } = await datasetOf(trained, options);
	const simulated = dataset !== undefined && (await isSimulated(dataset));
	const maySee = dataset !== undefined && (options.samples === true || simulated);
	const cache = cacheIn(join(folder, "explorer"), {
		...{ format: 1, step, dataset: manifest.contentHash },
		...{ patients: maySee, records: dataset !== undefined },
	});
	const exported = join(cache.folder, "export");
	if (!isExportOf(exported, trained)) {
		stage("exporting the model");
		await writeExport(trained, exported, { weights: "external" });
	}
	const documents = new Map<string, string>();
	const add = async (name: string, text: Promise<string>) => {
		documents.set(`/explorer/${name}`, await text);
	};
	const made = (name: string, doing: string, make: () => Promise<unknown>) =>
		add(
			name,
			cache.document(name, () => {
				stage(doing);
				return make();
			}),
		);
	/** What tells of patients is kept on disk only if nobody real is among them. */
	const ofPatients = (name: string, doing: string, make: () => Promise<unknown>) => {
		if (simulated || !maySee) return made(name, doing, make);
		stage(doing);
		return add(
			name,
			make().then((value) => JSON.stringify(value)),
		);
	};
	await ofPatients("maps.json", "drawing maps of codes and patients", async () => {
		const { map } = tokenMap(trained, { seed });
		const people = maySee
			? await patientMap(runtime, trained, dataset, await summarize(dataset), "test", { seed })
			: undefined;
		const { positive = "yes", negative = "no" } = people?.names ?? {};
		return {
			tokens: map.tokens.map(({ x, y }, at) => ({ token: specialCount + at, x, y })),
			decays: map.decays,
			patients: (people?.patients ?? []).map(({ x, y, positive: isPositive }) => ({
				...{ x, y },
				groups: isPositive === null ? [] : [isPositive ? positive : negative],
			})),
		};
	});
	await made("memory.json", "measuring memory", async () => {
		const nothing = { categories: [], events: [], heads: [], unit: "days" };
		if (!dataset || !model.forgetting) return nothing;
		const histories = [];
		for await (const history of dataset.histories("test")) histories.push(history);
		return headMemory(runtime, trained, histories);
	});
	await ofPatients("samples.json", "choosing sample patients", async () => ({
		patients: maySee ? await samplePatients(dataset, seed) : [],
		unitDays: manifest.timeUnit.days,
		axis: manifest.source.axis,
	}));
	await add("evaluation.json", evaluations(folder));
	await add("about.json", about(trained, exported));
	return { documents, model: exported, notes: note === undefined ? [] : [note] };
}

async function datasetOf(
	{ folder, run }: Trained,
	{ dataset }: ExplorerOptions,
): Promise<{ readonly dataset?: Dataset; readonly note?: string }> {
	if (dataset === undefined && !existsSync(join(folder, run.datasetFolder)))
		return {
			note: "the run's dataset is not where it was: no sample patients, no patient map and no memory are shown; say where it is with --dataset",
		};
	return { dataset: await openRunDataset(folder, run, dataset) };
}

/** Whether an export is there that was made of these very weights. */
function isExportOf(folder: string, { step, manifest, run }: Trained): boolean {
	try {
		const { trained, config } = JSON.parse(readFileSync(join(folder, "export.json"), "utf8"));
		return (
			trained.step === step &&
			trained.dataset === manifest.contentHash &&
			Object.entries(run.config).every(
				([name, value]) => JSON.stringify(config[name]) === JSON.stringify(value),
			)
		);
	} catch {
		return false;
	}
}

/** All that was measured, but for what each patient's part in it was. */
async function evaluations(run: string): Promise<string> {
	const names = await readdir(runFiles(run).evaluations).catch(() => []);
	const found = [];
	for (const name of names.filter((own) => own.endsWith(".json")).sort()) {
		const evaluation = await readEvaluation(run, name.slice(0, -".json".length));
		if (!evaluation) continue;
		const { windows: _, ...rest } = evaluation;
		found.push(rest);
	}
	return JSON.stringify({ evaluations: found });
}

async function about(trained: Trained, exported: string): Promise<string> {
	const { model, config, weights, run, step, manifest } = trained;
	const { counts, timeUnit, source, labels, reach, codes, filters } = manifest;
	return JSON.stringify({
		model: { id: model.id, name: model.name, cite: model.cite },
		config,
		parameters: [...weights.values()].reduce((sum, { data }) => sum + data.length, 0),
		dataset: {
			...{ counts, timeUnit, labels, reach: reach ?? null },
			...{ format: source.format, axis: source.axis, contentHash: manifest.contentHash },
		},
		records: {
			map: codes.map === null || codes.map === builtInMap().source ? codes.map : "a file",
			level: codes.level,
			dedup: filters.dedup,
		},
		versions: { ...run.versions, serving: ownPackage.version },
		training: {
			...{ epochs: run.options.epochs, seed: run.options.seed, step },
			bestLoss: bestLoss(trained),
		},
		modelCard: await readFile(join(exported, "model-card.md"), "utf8"),
	});
}

/** What the best epoch lost on the next event of validation patients, in nats; null where the log has none. */
function bestLoss({ folder, step }: Trained): number | null {
	const { log } = runFiles(folder);
	if (!existsSync(log)) return null;
	const best = readEventLog(log).find((event) => event.step === step && event.valid !== undefined);
	const { next } = (best?.valid ?? {}) as { readonly next?: unknown };
	return typeof next === "number" ? next : null;
}
