import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { silentProgress } from "../../base/progress.js";
import { openDataset } from "../../data/cohort/index.js";
import { specialCount } from "../../data/cohort/vocabulary.js";
import { nodeRuntime } from "../../engine/runtime/node.js";
import { modelById } from "../../model/index.js";
import { readTrained } from "../../model/train/index.js";
import { headMemory } from "../../predict/index.js";
import { noLog } from "../server/index.js";
import { jsonIn } from "../server/testing/running.js";
import { run as runCommand } from "./run.js";
import { drawnPatients, explorerData } from "./serve/explorer.js";
import { serve } from "./serve.js";
import { captured, done, refusal, words } from "./testing/captured.js";
import { clinicRun } from "./testing/clinic-run.js";

let run: string;
let dataset: string;
let root: string;
beforeAll(async () => {
	({ root, run, dataset } = await clinicRun());
});

/** Starts `serve`, does something with its address, and sends a signal. */
async function whileServing(
	argv: readonly string[],
	work: (url: string, said: string) => Promise<void>,
	env: Record<string, string> = {},
) {
	let [stdout, stderr] = ["", ""];
	let worked: Promise<void> | undefined;
	const io = {
		stdout: { write: (text: string) => (stdout += text) },
		stderr: {
			write: (text: string) => {
				stderr += text;
				if (text.startsWith("Ctrl-C"))
					worked = work(/http:\S+/.exec(stdout)?.[0] ?? "", stdout).finally(() =>
						process.emit("SIGTERM"),
					);
			},
		},
		env,
	};
	const code = await runCommand(["serve", run, "--no-explorer", "--port", "0", ...argv], io);
	await worked;
	return { code, stdout, stderr };
}

const question = {
	patient: { events: [{ code: "401", date: "2010-03-01" }] },
	at: ["+1y"],
	top: 1,
};
const ask = (url: string, headers: Record<string, string> = {}) =>
	fetch(new URL("/api/v2/forecast", url), {
		method: "POST",
		body: JSON.stringify(question),
		headers: { "Content-Type": "application/json", ...headers },
	});

describe("serve", () => {
	test("responds until it is stopped, and logs to standard error", async () => {
		const { code, stdout, stderr } = await whileServing([], async (url) => {
			const answer = await jsonIn(await ask(url));
			expect(answer.answers[0].top[0].probability).toBeGreaterThan(0);
			expect(await (await fetch(url)).text()).toContain("<h1>trajgpt API</h1>");
			expect(await jsonIn(await fetch(new URL("/api/v2/openapi.json", url)))).toMatchObject({
				info: { title: "trajgpt" },
			});
		});
		expect(code).toBe(0);
		expect(stdout).toMatch(/^API: http:\/\/127\.0\.0\.1:\d+\/api\n$/);
		expect(stderr).toContain('"route":"/api/v2/forecast","status":200');
		expect(stderr).toContain("finishing what is under way");
	});

	test("logs to a file", async () => {
		const file = join(root, "requests.jsonl");
		const { stderr } = await whileServing(["--log", file], async (url) => {
			await ask(url);
		});
		expect(stderr).not.toContain('"route"');
		await expect.poll(() => readFile(file, "utf8")).toContain('"msg":"closed"');
	});

	const known = "this-is-given-by-me";
	test.each<[when: string, token: "made" | "known" | "none", argv: string[], env?: string]>([
		["beyond this machine", "made", ["--host", "0.0.0.0"]],
		["where a variable gives it", "known", [], known],
		["where the variable is empty", "made", ["--host", "0.0.0.0"], ""],
		[
			"behind a proxy, even on loopback",
			"made",
			["--allow-host", "localhost", "forecasts.example"],
		],
		["under other names of loopback", "none", ["--allow-host", "LOCALHOST", "[::1]", "127.0.0.2"]],
	])("requires a token %s: %s", async (_, token, argv, env) => {
		const { code, stderr } = await whileServing(
			argv,
			async (url, said) => {
				const [, made] = /^token: (\S+)$/m.exec(said) ?? [];
				expect(made !== undefined).toBe(token === "made");
				expect((await ask(url)).status).toBe(token === "none" ? 200 : 401);
				const headers = { Authorization: `Bearer ${made ?? known}` };
				expect((await ask(url, headers)).status).toBe(200);
			},
			env === undefined ? {} : { TRAJGPT_TOKEN: env },
		);
		expect(code).toBe(0);
		expect(stderr).not.toContain(known);
	});

	test("requires the token of --token-file on this machine too, and warns if others can read the file", async () => {
		const file = join(root, "token.txt");
		await writeFile(file, `${known}\n`, { mode: 0o600 });
		const served = () =>
			whileServing(["--token-file", file], async (url, said) => {
				expect(said).not.toContain("token");
				expect((await ask(url)).status).toBe(401);
				expect((await ask(url, { Authorization: `Bearer ${known}` })).status).toBe(200);
			});
		const { code, stderr } = await served();
		expect(code).toBe(0);
		expect(stderr).not.toMatch(/given-by-me|chmod/);
		await chmod(file, 0o644);
		expect((await served()).stderr).toContain(`may read ${file}; chmod 600 it`);
	});

	test("needs the file that the codes of the run were mapped with", async () => {
		const trained = readTrained(run);
		const codes = { ...trained.manifest.codes, map: "phecodes.csv" };
		const started = serve(
			{ ...trained, manifest: { ...trained.manifest, codes } },
			{ host: "127.0.0.1", port: 0, explorer: false, log: noLog },
		);
		await expect(started).rejects.toThrow(
			"mapped with phecodes.csv; give that file again with `phecodeMap`",
		);
	});

	test.each([
		["--token-file SHORT", "has 5 characters; expected at least 16"],
		["--token-file none.txt", "no such file"],
		["--port 70000", "Expected a port"],
		["--host 203.0.113.7 --port 0", "not an address of this"],
		["--keep-ignored", "--keep-ignored needs --map FILE"],
	])("refuses %s", async (options, message) => {
		const short = join(root, "short.txt");
		await writeFile(short, "short\n");
		const argv = options.replace("SHORT", short).split(" ");
		expect(await refusal`serve ${run} --no-explorer ${argv}`).toContain(message);
	});

	test("refuses a port that is in use, and what is not a run", async () => {
		await whileServing([], async (url) => {
			const { port } = new URL(url);
			expect(await refusal`serve ${run} --no-explorer --port ${port}`).toContain("is in use");
		});
		expect(await refusal`serve ${root} --no-explorer`).toContain("is not a run");
	});
});

describe("the explorer's documents", () => {
	const documentsOf = async (samples: boolean, trained = readTrained(run)) => {
		const stages: string[] = [];
		const data = await explorerData(trained, {
			samples,
			progress: { ...silentProgress, finish: (text) => text && stages.push(text) },
			runtime: nodeRuntime({ threads: 1, purpose: "inference" }),
		});
		const read = (name: string) => JSON.parse(data.documents.get(`/explorer/${name}`) as string);
		return { ...data, read, stages };
	};

	test("show no patients of real records without --samples", async () => {
		const { read } = await documentsOf(false);
		expect(read("samples.json").patients).toEqual([]);
		expect(read("people.json").people).toBeNull();
		const shown = await documentsOf(true);
		const { patients, axis } = shown.read("samples.json");
		expect(axis).toBe("dates");
		const data = await openDataset(dataset);
		const fitting = [...data.patients("test")].filter((patient) => {
			const events = data.lengthOf(patient) - data.birthEventsOf(patient);
			return events >= 20 && events <= 400;
		});
		expect(patients).toHaveLength(Math.min(24, fitting.length));
		for (const name of ["samples.json", "people.json"]) {
			const text = shown.documents.get(`/explorer/${name}`) as string;
			for (const patient of fitting) expect(text).not.toContain(`"${data.idOf(patient)}"`);
		}
		const { people } = shown.read("people.json");
		expect(atob(people.vectors)).toHaveLength(people.states.length * people.dim);
		const kept = JSON.parse(await readFile(join(run, "explorer", "people.json"), "utf8"));
		expect(kept.people).toBeNull();
		// Nothing of them lies on the disk: what is there shows nobody.
		const keptSamples = JSON.parse(await readFile(join(run, "explorer", "samples.json"), "utf8"));
		expect(keptSamples.patients).toEqual([]);
		for (const [i, { id, name, birthTime, events }] of patients.entries()) {
			expect([id, name]).toEqual([`s${i + 1}`, `Sample ${i + 1}`]);
			expect(events[0].time).toBeGreaterThanOrEqual(birthTime);
			expect(events.every(({ token }: { token: number }) => token >= specialCount)).toBe(true);
		}
	});

	test("are written once, and again when the weights have changed", async () => {
		expect((await documentsOf(false)).stages).not.toContain("exporting the model");
		const { read, stages, model } = await documentsOf(false);
		expect(stages).toEqual([]);
		expect(existsSync(join(model, "export.json"))).toBe(true);
		const trained = readTrained(run);
		const data = await openDataset(dataset);
		const drawn = drawnPatients(data, 0);
		const histories = [];
		for (const patient of drawn) histories.push(await data.read(patient));
		const runtime = nodeRuntime({ threads: 1, purpose: "inference" });
		expect(read("memory.json")).toMatchObject({
			...JSON.parse(JSON.stringify(await headMemory(runtime, trained, histories))),
			drawn: { split: "test", patients: drawn.length, of: drawn.length, seed: 0 },
		});
		const about = read("about.json");
		expect(about).toMatchObject({ model: { id: "trajgpt" }, training: { epochs: 1 } });
		expect(about.modelCard).toContain("#");
		expect(about.training.bestLoss).toBeGreaterThan(0);
		expect(read("evaluation.json")).toEqual({ evaluations: [] });
		const file = join(run, "explorer", "memory.json");
		const old = (await readFile(file, "utf8")).replace(/"weights":"\w+"/, '"weights":"others"');
		await writeFile(file, old);
		expect((await documentsOf(false)).stages).toEqual(["measuring memory"]);
		const others = new Map(
			[...trained.weights].map(([name, { shape, data }]) => [
				name,
				{ shape, data: data.map((value) => value * 1.01) },
			]),
		);
		// Of the same step and dataset, as a run in its place with another seed.
		const { stages: again } = await documentsOf(false, { ...trained, weights: others });
		expect(again).toContain("exporting the model");
		expect(again).toContain("measuring memory");
		expect((await documentsOf(false)).stages).toContain("exporting the model");
	});

	test("include later evaluations, in the model card too, but no data per patient", async () => {
		const argv = ["evaluate", run, "--task", "next", "--dataset", dataset];
		await done(argv);
		const { read, stages, model } = await documentsOf(false);
		expect(stages).toEqual(["exporting the model"]);
		const { modelCard } = read("about.json");
		expect(modelCard).toContain("### The next record");
		expect(await readFile(join(model, "model-card.md"), "utf8")).toBe(modelCard);
		const [evaluation, ...others] = read("evaluation.json").evaluations;
		expect(others).toEqual([]);
		expect(evaluation).toMatchObject({ task: "next", rows: expect.any(Array) });
		expect(evaluation).not.toHaveProperty("windows");
		for (const row of evaluation.rows) expect(row).not.toHaveProperty("byPatient");
		expect((await documentsOf(false)).stages).toEqual([]);
	});

	test("need a model that can be exported, or --no-explorer", async () => {
		const trained = { ...readTrained(run), model: modelById("gpt2") };
		const runtime = nodeRuntime({ threads: 1, purpose: "inference" });
		await expect(explorerData(trained, { runtime })).rejects.toThrow(
			/^the explorer needs an export of the model: .* cannot be exported: .*; to serve the API alone, pass `explorer: false`$/,
		);
	});

	test("measure memory on a sample of the patients", () => {
		const many = {
			patients: () => Int32Array.from({ length: 100_000 }, (_, i) => i),
			lengthOf: (patient: number) => 1 + (patient % 3),
		};
		const drawn = drawnPatients(many, 0, 500);
		const events = drawn.map(many.lengthOf);
		const total = events.reduce((sum, own) => sum + own, 0);
		expect(total).toBeGreaterThanOrEqual(500);
		expect(total - (events.at(-1) as number)).toBeLessThan(500);
		expect(new Set(drawn).size).toBe(drawn.length);
		expect(drawnPatients(many, 0, 500)).toEqual(drawn);
		expect(drawnPatients(many, 1, 500)).not.toEqual(drawn);
	});
});

test("the built service computes in worker threads and ends on SIGTERM", async () => {
	const main = fileURLToPath(new URL("../../../dist/bin/trajgpt.js", import.meta.url));
	const argv = [main, "serve", run, "--no-explorer", "--port", "0", "--threads", "2"];
	const child = spawn(process.execPath, argv, { stdio: ["ignore", "pipe", "pipe"] });
	let stderr = "";
	child.stderr.on("data", (chunk) => {
		stderr += chunk;
	});
	const ended = new Promise((resolve) => child.on("close", resolve));
	const url = await new Promise<string>((resolve, reject) => {
		child.stdout.on("data", (chunk) => resolve(/http:\S+/.exec(String(chunk))?.[0] ?? ""));
		child.on("error", reject);
		child.on("close", () => reject(new Error(`it ended before it served: ${stderr}`)));
	});
	const answers = await Promise.all(Array.from({ length: 9 }, () => ask(url)));
	const bodies = await Promise.all(answers.map(jsonIn));
	const [{ code }] = bodies[0].answers[0].top;
	for (const { answers } of bodies) expect(answers[0].top[0].code).toBe(code);
	child.kill("SIGTERM");
	expect(await ended).toBe(0);
});

test("without a built page it prints how to build one", async () => {
	if (existsSync(fileURLToPath(new URL("../../../dist/web/index.html", import.meta.url)))) return;
	const { code, stderr } = await captured(words`serve ${run} --port 0`);
	expect({ code, stderr }).toMatchObject({
		code: 2,
		stderr: expect.stringContaining("npm run build"),
	});
});
