import { availableParallelism } from "node:os";
import { join } from "node:path";
import { InputError } from "../base/errors.js";
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
} from "../server/index.js";
import { forecastWeights, type Trained } from "../train/index.js";
import { builtFolder } from "./built-folder.js";
import { type CodeMapOptions, codeMapOf } from "./code-map.js";
import { explorerData } from "./explorer.js";
import type { Monitoring } from "./training.js";
import { ownPackage } from "./versions.js";

/** Where and to whom a run is served. */
export interface ServeOptions extends CodeMapOptions, Pick<Monitoring, "progress"> {
	readonly host: string;
	/** The usual, or the next free one, if left out. */
	readonly port?: number | undefined;
	/** Further names it goes by, as behind a proxy. */
	readonly allowHost?: readonly string[] | undefined;
	/** What clients must present; one is made where others than this machine can reach it. */
	readonly token?: string | undefined;
	readonly threads?: number | undefined;
	readonly explorer: boolean;
	readonly dataset?: string | undefined;
	readonly samples?: boolean | undefined;
	readonly limits?: Partial<Limits> | undefined;
	readonly log: Log;
}

const usualPort = 7428;
const portsTried = 20;

export interface Serving extends Service {
	/** What whoever comes must know; undefined where nothing is asked. */
	readonly token: string | undefined;
}

/**
 * Serves a run over HTTP: the JSON API and, unless turned off, the explorer, whose documents are made first.
 *
 * @example
 * const service = await serve(readTrained("runs/first"), { host: "127.0.0.1", explorer: true, log: noLog });
 * console.log(service.url);
 * await service.close();
 */
export async function serve(trained: Trained, options: ServeOptions): Promise<Serving> {
	const token = tokenFor(options);
	const files = options.explorer ? await explorerFiles(trained, options) : new Map();
	const { model, config, manifest, vocabulary, step, run } = trained;
	const served: Served = {
		...{ model, config, manifest, vocabulary, step },
		weights: forecastWeights(trained),
		map: await codeMapOf(manifest, options),
		versions: run.versions,
	};
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

async function explorerFiles(
	trained: Trained,
	{ dataset, samples, threads, progress }: ServeOptions,
): Promise<Map<string, ServedFile>> {
	const page = pageFolder();
	const { nodeRuntime } = await import("../runtime/node.js");
	const data = await explorerData(trained, {
		...{ dataset, samples, progress },
		runtime: nodeRuntime({ purpose: "inference", ...(threads !== undefined && { threads }) }),
	});
	for (const note of data.notes) progress?.note(`note: ${note}`);
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
		"the explorer is not built; run `npm run build`, or serve the API alone with `explorer: false`",
	);
}
