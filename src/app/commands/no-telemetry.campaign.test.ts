import { readFileSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { clinicRun } from "./testing/clinic-run.js";
import { canTrace, type Trapped, trapped } from "./testing/trap.js";

const main = "dist/bin/trajgpt.js";
const library = pathToFileURL("dist/index.js").href;
let work: string;
let run: string;
let dataset: string;
beforeAll(async () => {
	({ root: work, run, dataset } = await clinicRun());
});
afterAll(() => rm(work, { recursive: true }));

if (!canTrace)
	console.warn("strace cannot run here: only the files left behind are checked, not the network");

const quiet = { code: 0, left: [], created: [], contacted: [] };
const seen = ({ code, left, created, contacted }: Trapped) => ({ code, left, created, contacted });
/** Where onnxruntime-node 1.30 keeps the device's number and the events it has yet to send. */
const telemetryFiles = expect.arrayContaining([
	expect.stringMatching(/\.onnxruntime\/deviceid$/),
	expect.stringMatching(/\.onnxruntime\/onnxruntime\.db$/),
]);

const records = ["patient,date,code,system", ..."abcdefghijklmnopqrst"]
	.map((id, i) => (i === 0 ? id : `${id},2010-03-01,401.9,icd9\n${id},2012-03-01,250.0,icd9`))
	.join("\n");
const tiny = [
	...["--epochs", "1", "--preset", "tiny", "--set", "layers=1", "--set", "dim=16"],
	...["--max-length", "16", "--batch-slots", "4096", "--no-hazards", "--threads", "1"],
];

function file(name: string, text: string): string {
	const path = join(work, name);
	writeFileSync(path, text);
	return path;
}

/** A user's program that opens a run and asks it something. */
const asking = (name: string) =>
	file(
		name,
		`import { birthToken, predictAt, readTrained } from ${JSON.stringify(library.replace("index.js", "nn.js"))};
import { nodeRuntime } from ${JSON.stringify(library.replace("index.js", "graph.js"))};
const { model, config, weights } = readTrained(${JSON.stringify(run)});
const predictor = model.predictor(nodeRuntime({ threads: 1 }), config, weights);
await predictAt(predictor, [{ tokens: [birthToken("female")], times: [0] }], [[1]]);`,
	);

/** A user's program that starts a worker thread with an environment of its own. */
const starting = (name: string, thread: string, then = "") =>
	file(
		name,
		`import { execSync } from "node:child_process";
import { Worker } from "node:worker_threads";
new Worker(${JSON.stringify(thread)}, { env: {} });
${then}`,
	);

describe("nothing is written to the home folder, and no host is contacted", () => {
	test.each([
		["doctor", () => [main, "doctor"]],
		["forecast", () => [main, "forecast", run, "--patient", "p00012"]],
		[
			"prepare",
			() => [
				...[main, "prepare", file("records.csv", records), "--from", "csv"],
				...["--out", join(work, "prepared"), "--min-count", "1"],
			],
		],
		["pretrain", () => [main, "pretrain", dataset, "--out", join(work, "again"), ...tiny]],
		["report", () => [main, "report", run]],
		["export", () => [main, "export", run, "--out", join(work, "export")]],
		["the library in a program", () => [asking("program.mjs")]],
		[
			"the library in a program's worker thread",
			() => [starting("threads.mjs", asking("thread.mjs"))],
		],
		["a benchmark", () => ["bench/main.mjs", "operations", "--only", "add", "--repetitions", "1"]],
		[
			"the tests",
			() => ["node_modules/vitest/vitest.mjs", "run", "src/engine/runtime/node.test.ts"],
		],
	])("%s", async (_, argv) => {
		const found = await trapped(argv(), { work });
		expect({ ...seen(found), failed: found.code === 0 ? "" : found.stderr }).toEqual({
			...quiet,
			failed: "",
		});
	});

	test("the service, which computes in a thread", async () => {
		const question = { patient: { events: [{ code: "401", date: "2010-03-01" }] }, at: ["+1y"] };
		let asked: Promise<number> | undefined;
		const found = await trapped([main, "serve", run, "--port", "0"], {
			work,
			until(stdout, stop) {
				const url = /http:\/\/\S+:\d+/.exec(stdout)?.[0];
				if (url === undefined) return;
				asked ??= fetch(`${url}/api/v2/forecast`, {
					method: "POST",
					headers: { "Content-Type": "application/json" },
					body: JSON.stringify(question),
				})
					.then(({ status }) => status)
					.finally(stop);
			},
		});
		expect(await asked).toBe(200);
		expect(seen(found)).toEqual(quiet);
	});

	test("also where the user wrote ORT_DISABLE_TELEMETRY=true, which ONNX Runtime ignores", async () => {
		const env = { ORT_DISABLE_TELEMETRY: "true" };
		expect(seen(await trapped([main, "doctor"], { env }))).toEqual(quiet);
	});
});

test("a worker thread that cannot reach the main thread does not load the engine", async () => {
	const refusal = join(work, "refusal");
	const thread = file(
		"refused.mjs",
		`import { readFileSync, writeFileSync } from "node:fs";
const note = (text) => writeFileSync(${JSON.stringify(refusal)}, text);
await import(${JSON.stringify(library)}).then(() => note("loaded"), (error) => note(error.message));`,
	);
	const untilRefused = `execSync("until [ -s ${refusal} ]; do sleep 0.1; done");`;
	const found = await trapped([starting("blocked.mjs", thread, untilRefused)], { work });
	expect(seen(found)).toEqual(quiet);
	expect(readFileSync(refusal, "utf8")).toMatch(
		/^ONNX Runtime was not loaded in this worker thread: .*import trajgpt in the main thread first/,
	);
});

describe("the system-call trap", () => {
	test("finds the telemetry of a user who opted in", async () => {
		const env = { ORT_DISABLE_TELEMETRY: "0" };
		const found = await trapped([main, "doctor"], { env });
		expect(found.left).toEqual(telemetryFiles);
		if (canTrace)
			expect(found.created).toEqual(
				expect.arrayContaining([expect.stringMatching(/\.onnxruntime\/onnxruntime\.db$/)]),
			);
	});

	test("finds it in a program that loads the engine by itself", async () => {
		const engine = pathToFileURL("node_modules/onnxruntime-node/dist/index.js").href;
		const alone = file(
			"alone.mjs",
			`import ort from ${JSON.stringify(engine)};
await ort.InferenceSession.create(Uint8Array.of(1)).catch(() => {});`,
		);
		expect((await trapped([alone], { work })).left).toEqual(telemetryFiles);
	});

	test.skipIf(!canTrace)("finds name lookups, connections and files", async () => {
		// 192.0.2.1 and names in .invalid are nobody's, by RFC 5737 and RFC 2606.
		const script = `require("node:dns").lookup("trap.invalid", () => {});
const socket = require("node:net").connect(9, "192.0.2.1").on("error", () => {});
setTimeout(() => socket.destroy(), 200);
require("node:fs").mkdtempSync(process.env.HOME + "/trap-");`;
		const found = await trapped(["-e", script]);
		expect(found.contacted).toEqual(["192.0.2.1:9", "a name lookup"]);
		expect(found.created).toEqual([expect.stringContaining("/home/trap-")]);
		expect(found.left).toHaveLength(1);
	});
});
