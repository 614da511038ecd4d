import { availableParallelism } from "node:os";
import { join } from "node:path";
import { InputError } from "../../base/errors.js";
import { progress } from "../../base/progress.js";
import { builtInMap, type CodeMap, readPheCodeMap } from "../../codes/index.js";
import { mapOfDataset } from "../../cohort/index.js";
import {
	document,
	type Engine,
	filesIn,
	gate,
	isLoopback,
	type Limits,
	type Log,
	leastTokenLength,
	localEngine,
	newToken,
	type Served,
	type ServedFile,
	type Service,
	startService,
	threadEngine,
	usualLimits,
} from "../../server/index.js";
import { forecastWeights, type Trained } from "../../train/index.js";
import { builtFolder } from "../../workflows/built-folder.js";
import { ownPackage } from "../../workflows/versions.js";
import type { Io } from "../io.js";
import { explorerData } from "./documents.js";

export interface ServeOptions {
	readonly host: string;
	/** The usual, or the next free one, if left out. */
	readonly port?: number | undefined;
	readonly allowHost?: readonly string[] | undefined;
	readonly token?: string | undefined;
	readonly threads?: number | undefined;
	readonly explorer: boolean;
	readonly dataset?: string | undefined;
	readonly samples?: boolean | undefined;
	readonly phecodeMap?: string | undefined;
	readonly keepIgnored?: boolean | undefined;
	readonly limits?: Partial<Limits> | undefined;
	readonly log: Log;
}

const usualPort = 7428;
const portsTried = 20;

export interface Serving extends Service {
	/** What whoever comes must know; undefined where nothing is asked. */
	readonly token: string | undefined;
}

/** Starts the service on a run; what the page needs is made first. */
export async function serveRun(io: Io, trained: Trained, options: ServeOptions): Promise<Serving> {
	const token = tokenFor(options);
	const files = options.explorer ? await explorerFiles(io, trained, options) : new Map();
	const served = await servedOf(trained, options);
	return listen(served, { ...options, files, token });
}

export async function listen(
	served: Served,
	options: Omit<ServeOptions, "explorer"> & {
		readonly files: ReadonlyMap<string, ServedFile>;
		readonly token?: string | undefined;
	},
): Promise<Serving> {
	const { host, port, token, files, log } = options;
	const ports =
		port === undefined ? Array.from({ length: portsTried }, (_, i) => usualPort + i) : [port];
	const engine = engineFor(served, options.threads);
	try {
		const service = await startService({
			...{ served, engine, host, ports, files, log },
			limits: { ...usualLimits, ...options.limits },
			version: ownPackage.version,
			names: options.allowHost ?? [],
			gate: token === undefined ? undefined : gate(token),
		});
		return { ...service, token };
	} catch (error) {
		await engine.dispose();
		throw error;
	}
}

/** Threads need the built files; from the sources the model runs in this one. */
export function engineFor(
	{ model, config, weights, vocabulary }: Served,
	threads: number | undefined,
): Engine {
	const parts = { model: model.id, config, weights, tokens: vocabulary.tokens };
	const isBuilt = import.meta.url.endsWith(".js");
	return isBuilt ? threadEngine(parts, threads ?? availableParallelism()) : localEngine(parts);
}

/**
 * Beyond this machine nobody comes in without one; here only if it was given. A name that is not of
 * this machine alone is a proxy's, and whoever reaches the proxy reaches this.
 */
function tokenFor({ host, allowHost = [], token }: ServeOptions): string | undefined {
	if (token !== undefined && !/^[\w.~+/=-]+$/.test(token))
		throw new InputError(
			"the token holds characters that a header cannot; expected letters, digits and . _ ~ + / = -",
		);
	if (token !== undefined && token.length < leastTokenLength)
		throw new InputError(
			`the token has ${token.length} characters; expected at least ${leastTokenLength}, or none to have one made`,
		);
	return token ?? ([host, ...allowHost].every(isLoopback) ? undefined : newToken());
}

async function servedOf(
	trained: Trained,
	options: Pick<ServeOptions, "phecodeMap" | "keepIgnored">,
): Promise<Served> {
	const { model, config, manifest, vocabulary, step, run } = trained;
	const weights = forecastWeights(trained);
	const map = await mapFor(trained, options);
	return {
		...{ model, config, weights, manifest, vocabulary, step, map },
		versions: run.versions,
	};
}

async function mapFor(
	{ manifest }: Trained,
	{ phecodeMap, keepIgnored }: Pick<ServeOptions, "phecodeMap" | "keepIgnored">,
): Promise<CodeMap | undefined> {
	if (keepIgnored && phecodeMap === undefined)
		throw new InputError("--keep-ignored needs --map FILE");
	if (phecodeMap === undefined) {
		const isFile = ![null, builtInMap().source].includes(manifest.codes.map);
		return isFile ? undefined : mapOfDataset(manifest);
	}
	const level = manifest.codes.level ?? "integer";
	const ignore = keepIgnored ? "keep" : "drop";
	return mapOfDataset(manifest, await readPheCodeMap(phecodeMap, { level, ignore }));
}

async function explorerFiles(
	io: Io,
	trained: Trained,
	{ dataset, samples, threads }: ServeOptions,
): Promise<Map<string, ServedFile>> {
	const page = pageFolder();
	const { nodeRuntime } = await import("../../runtime/node.js");
	const line = progress(io.stderr, { clock: () => performance.now() });
	const data = await explorerData(trained, {
		...{ dataset, samples },
		runtime: nodeRuntime({ purpose: "inference", ...(threads !== undefined && { threads }) }),
		stage: (text) => line.finish(text),
		round: (label, done, total) => line.update({ label, done, total }),
	});
	line.finish();
	for (const note of data.notes) io.stderr.write(`note: ${note}\n`);
	return new Map([
		...(await filesIn(page, "/")),
		...(await filesIn(join(page, "..", "browser"), "/trajgpt/")),
		...(await filesIn(data.model, "/model/")),
		...[...data.documents].map(([at, text]) => [at, document(text)] as const),
	]);
}

function pageFolder(): string {
	const built = builtFolder("web", "index.html");
	if (built) return built;
	throw new InputError(
		"the explorer is not built; run `npm run build`, or serve the API alone with --no-explorer",
	);
}
