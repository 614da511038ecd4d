import { createWriteStream, openSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { InputError } from "../../base/errors.js";
import { ownPackage } from "../../base/files/versions.js";
import { systemRefusal } from "../../base/system-errors.js";
import { forecastWeights, type Trained } from "../../model/train/index.js";
import {
	defaultLimits,
	document,
	type Engine,
	filesIn,
	isLoopback,
	jsonLog,
	type Limits,
	type Log,
	leastTokenLength,
	localEngine,
	newToken,
	noLog,
	partsOf,
	type ServedFile,
	type ServedModel,
	type Service,
	startService,
	threadEngine,
} from "../server/index.js";
import { defineCommand } from "./define-command.js";
import { builtFolder } from "./export.js";
import {
	codeMapFields,
	datasetField,
	file,
	flag,
	inGroup,
	type Optional,
	offFlag,
	option,
	several,
	threads,
	type Values,
	whole,
} from "./fields.js";
import { interrupted } from "./interruptible.js";
import { type Io, progressOf } from "./io.js";
import { modelArgument, openModel } from "./open-run.js";
import { type CodeMapOptions, requiredCodeMap } from "./patients.js";
import type { Monitoring } from "./pretrain/training.js";
import { explorerData } from "./serve/explorer.js";

const description = `Serve a trained run: the explorer at /, and a JSON API, described at /api with examples
to run (as OpenAPI: /api/v2/openapi.json).

By default only this machine can reach the service. With another --host, or with --allow-host,
clients need a token: the one in --token-file or in the variable TRAJGPT_TOKEN, or one that is
generated and printed. Set a token too if other people use this machine: they can reach the port.
The service speaks plain HTTP: beyond this machine, put a TLS proxy in front or use an SSH tunnel.

Patient records are never written to disk, logs or messages. Ctrl-C stops the service.`;

const options = {
	host: option("address", "address to listen on", z.string().default("127.0.0.1")),
	port: whole(0, 65_535)
		.meta({ expected: "Expected a port from 1 to 65535, or 0 for any that is free." })
		.optional()
		.describe("port (default: 7428, or the next free one)"),
	allowHost: several(
		"name...",
		"further host names to accept, as behind a proxy; requires a token",
	),
	tokenFile: file("file with the token that every client must send, on this machine too"),
	threads: threads
		.optional()
		.describe("predictions computed at the same time (default: one per core)"),
	maxSessions: whole(1, 100_000)
		.optional()
		.describe("maximum number of open sessions (default: 256)"),
	log: file("log file, one line of JSON per request; - is standard error"),
	explorer: offFlag("serve the API alone"),
	...inGroup("Explorer:", {
		dataset: datasetField,
		samples: flag("show patients of the test split even if they are not simulated"),
	}),
	...inGroup("Codes:", codeMapFields),
};

export const command = defineCommand({
	name: "serve",
	description,
	arguments: { run: z.string().describe(modelArgument) },
	options,
	examples: {
		"trajgpt serve runs/demo/run": "the explorer and the API, for this machine",
		"trajgpt serve runs/demo/run --no-explorer --log -": "the API alone, with a log",
		"trajgpt serve runs/sim/tasks/insulin": "a fine-tuned model, with /api/v2/score",
		"trajgpt serve run --host 0.0.0.0 --token-file token.txt": "for other machines too",
	},
	run: act,
});

export const finishingRequests = "finishing what is under way; again ends at once";

async function act(
	io: Io,
	{ run: folder, tokenFile, maxSessions, log, ...rest }: Values<typeof options> & { run: string },
): Promise<void> {
	const trained = openModel(io, folder);
	const tokenText = tokenFile === undefined ? io.env.TRAJGPT_TOKEN : await tokenIn(io, tokenFile);
	// An empty variable counts as unset.
	const token = tokenText || undefined;
	const service = await serve(trained, {
		...rest,
		progress: progressOf(io),
		token,
		limits: maxSessions === undefined ? {} : { sessions: maxSessions },
		log: await logTo(io, log),
	});
	io.stdout.write(
		`${rest.explorer ? "explorer" : "API"}: ${service.url}${rest.explorer ? "" : "api"}\n`,
	);
	if (service.token !== undefined && token === undefined)
		io.stdout.write(`token: ${service.token}\n`);
	io.stderr.write("Ctrl-C ends it\n");
	await interrupted(io, finishingRequests);
	await service.close();
}

async function tokenIn(io: Io, file: string): Promise<string> {
	const text = await withFile(file, () => readFile(file, "utf8"));
	// Windows has no such permission bits.
	if (process.platform !== "win32" && (await stat(file)).mode & 0o077)
		io.stderr.write(`note: others on this machine may read ${file}; chmod 600 it\n`);
	if (text.trim() !== "") return text.trim();
	throw new InputError(`${file} is empty; expected a token of at least 16 characters`);
}

async function withFile<T>(file: string, work: () => T | Promise<T>): Promise<T> {
	try {
		return await work();
	} catch (error) {
		const reason = systemRefusal(error);
		throw reason ? new InputError(`cannot use ${file}: ${reason}`, { cause: error }) : error;
	}
}

/** Without --log, requests are logged to standard error, except in a terminal. */
async function logTo(io: Io, file: string | undefined): Promise<Log> {
	if (file === "-" || (file === undefined && !io.stderr.isTTY)) return jsonLog(io.stderr);
	if (file === undefined) return noLog;
	const fd = await withFile(file, () => openSync(file, "a"));
	const stream = createWriteStream(file, { fd });
	// A full disk ends the log, not the service.
	stream.once("error", (error) => {
		stream.on("error", () => {});
		io.stderr.write(`stopped writing the log ${file}: ${systemRefusal(error) ?? error.message}\n`);
	});
	return jsonLog(stream);
}

/** Options of `serve`: those of the command, with what it reads from files. */
export interface ServeOptions
	extends Pick<Values<typeof options>, "host" | "explorer">,
		Optional<Values<typeof options>, "port" | "allowHost" | "threads" | "dataset" | "samples">,
		CodeMapOptions,
		Pick<Monitoring, "progress"> {
	/** The token that clients must send. Generated by default if other machines can reach the service. */
	readonly token?: string | undefined;
	readonly limits?: Partial<Limits> | undefined;
	readonly log: Log;
}

const defaultPort = 7428;
const portsTried = 20;

export interface Serving extends Service {
	/** The token that clients must send; undefined if none is required. */
	readonly token: string | undefined;
}

/**
 * Serves a run over HTTP: the JSON API and, unless turned off, the explorer, whose documents are computed first.
 * A run whose codes were mapped with a file needs that file.
 *
 * @example
 * const service = await serve(readTrained("runs/first"), { host: "127.0.0.1", explorer: true, log: noLog });
 * console.log(service.url);
 * await service.close();
 */
export async function serve(trained: Trained, options: ServeOptions): Promise<Serving> {
	const token = tokenFor(options);
	const map = await requiredCodeMap(trained.manifest, options);
	const files = options.explorer ? await explorerFiles(trained, options) : new Map();
	const served: ServedModel = {
		...trained,
		weights: forecastWeights(trained),
		map,
		versions: trained.run.versions,
		simulated: trained.run.simulated === true,
	};
	return listen(served, { ...options, files, token });
}

export async function listen(
	served: ServedModel,
	options: Omit<ServeOptions, "explorer"> & { readonly files: ReadonlyMap<string, ServedFile> },
): Promise<Serving> {
	const { host, port, token, files, log } = options;
	const ports =
		port === undefined ? Array.from({ length: portsTried }, (_, i) => defaultPort + i) : [port];
	const engine = engineFor(served, options.threads);
	const names = options.allowHost ?? [];
	const limits = { ...defaultLimits, ...options.limits };
	const { version } = ownPackage;
	try {
		const listening = { served, engine, host, ports, files, log, limits, version, names, token };
		return { ...(await startService(listening)), token };
	} catch (error) {
		await engine.dispose();
		throw error;
	}
}

/** Worker threads need the built files; from source, the model runs in this thread. */
export function engineFor(served: ServedModel, threads: number | undefined): Engine {
	const parts = partsOf(served);
	const isBuilt = import.meta.url.endsWith(".js");
	return isBuilt ? threadEngine(parts, threads ?? availableParallelism()) : localEngine(parts);
}

/**
 * A token is required beyond this machine, and on this machine if one is given. A host name other than loopback
 * is a proxy's, and every client of the proxy can reach this service.
 */
function tokenFor({ host, allowHost = [], token }: ServeOptions): string | undefined {
	if (token !== undefined && !/^[\w.~+/-]+=*$/.test(token))
		throw new InputError(
			"the token holds characters that a header cannot; expected letters, digits and . _ ~ + / -, and = at the end",
		);
	if (token !== undefined && token.length < leastTokenLength)
		throw new InputError(
			`the token has ${token.length} characters; expected at least ${leastTokenLength}, or none to have one generated`,
		);
	return token ?? ([host, ...allowHost].every(isLoopback) ? undefined : newToken());
}

async function explorerFiles(
	trained: Trained,
	{ dataset, samples, threads, progress }: ServeOptions,
): Promise<Map<string, ServedFile>> {
	const advice = "serve the API alone with `explorer: false`";
	const page = builtFolder("web", "index.html", "the explorer", advice);
	const { nodeRuntime } = await import("../../engine/runtime/node.js");
	const data = await explorerData(trained, {
		dataset,
		samples,
		progress,
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
