import { createWriteStream, openSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { z } from "zod";
import { InputError } from "../../base/errors.js";
import { systemRefusal } from "../../base/system-errors.js";
import { jsonLog, type Log, noLog } from "../server/index.js";
import { serve } from "../workflows/serve.js";
import { defineCommand } from "./define-command.js";
import {
	codeMapFields,
	datasetField,
	flag,
	inGroup,
	offFlag,
	option,
	texts,
	threads,
	type Values,
	whole,
} from "./fields.js";
import { interrupted } from "./interruptible.js";
import { type Io, progressOf } from "./io.js";
import { modelArgument, openModel } from "./open-run.js";

const description = `Serve a trained run: the explorer at /, and a JSON API, described at /api with examples
to run (as OpenAPI: /api/v2/openapi.json).

By default only this machine can reach the service. With another --host, or with --allow-host,
clients need a token: the one in --token-file or in the variable TRAJGPT_TOKEN, or one that is
generated and printed. Set a token too if other people use this machine: they can reach the port.
The service speaks plain HTTP: beyond this machine, put a TLS proxy in front or use an SSH tunnel.

Patient records are never written to disk, logs or messages. Ctrl-C stops the service.`;

const options = {
	host: option("address", "address to listen on", z.string().default("127.0.0.1")),
	port: option(
		"n",
		"port (default: 7428, or the next free one)",
		whole(0, 65_535)
			.meta({ expected: "Expected a port from 1 to 65535, or 0 for any that is free." })
			.optional(),
	),
	allowHost: option(
		"name...",
		"further host names to accept, as behind a proxy; requires a token",
		texts.optional(),
	),
	tokenFile: option(
		"file",
		"file with the token that every client must send, on this machine too",
		z.string().optional(),
	),
	threads: option(
		"n",
		"predictions computed at the same time (default: one per core)",
		threads.optional(),
	),
	maxSessions: option(
		"n",
		"maximum number of open sessions (default: 256)",
		whole(1, 100_000).optional(),
	),
	log: option(
		"file",
		"log file, one line of JSON per request; - is standard error",
		z.string().optional(),
	),
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
