// The commands of a built clone, run in this process.
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** @import { Json } from "./compare.mjs" */
/** @typedef {(argv: readonly string[], io: object) => Promise<number>} RunCommand */
/** @typedef {Awaited<ReturnType<typeof openClone>>} Clone */

/** Options of a training that takes a moment. */
export const quickTraining = "--epochs 1 --threads 1 --batch-shapes 1 --train-patients 48";

/** Settings of a model as options of pretrain. */
export const sizes = (/** @type {Readonly<Record<string, string | number>>} */ settings) =>
	Object.entries(settings)
		.map(([name, value]) => `--set ${name}=${value}`)
		.join(" ");

/** The smaller population, and the dataset that models are trained on. */
export const simulateData = "simulate --patients 400 --seed 1 --out sim --json";
export const prepareData =
	"prepare sim --from csv --out data --min-records 5 --min-count 25 --splits 45,10,45 --label planted=planted.csv --json";

/**
 * Opens a built clone. Commands run in the current folder.
 * @param {string} root
 * @param {(line: string) => void} say
 */
export async function openClone(root, say) {
	/** @type {Map<string, Json>} */
	const goldens = new Map();
	const load = (/** @type {string} */ path) => import(pathToFileURL(join(root, "dist", path)).href);
	/** @type {{ run: RunCommand }} */
	const { run } = await load("app/commands/run.js");

	async function output(/** @type {string} */ line) {
		const written = { stdout: "", stderr: "" };
		const into = (/** @type {"stdout" | "stderr"} */ stream) => ({
			write: (/** @type {string} */ text) => {
				written[stream] += text;
			},
		});
		const argv = line.split(" ").filter((word) => word !== "");
		const io = { stdout: into("stdout"), stderr: into("stderr"), env: {} };
		return { code: await run(argv, io), ...written };
	}

	/** Keeps what a command line prints: a document with --json, else lines; or why it refuses. */
	async function command(/** @type {string} */ name, /** @type {string} */ line) {
		const before = process.cpuUsage();
		const { code, stdout, stderr } = await output(line);
		const error = stderr.trimEnd().split("\n").slice(-3);
		if (code !== 0) goldens.set(name, { exit: code, error });
		else if (line.includes("--json")) goldens.set(name, JSON.parse(stdout));
		else goldens.set(name, stdout.split("\n"));
		const { user, system } = process.cpuUsage(before);
		const failure = code === 0 ? "" : `, exit ${code}: ${error.join(" ")}`;
		say(`${name}: ${Math.round((user + system) / 1000)} ms of processor time${failure}`);
	}

	/** Keeps both what a command line prints and its document. */
	async function both(/** @type {string} */ name, /** @type {string} */ line) {
		await command(name, `${line} --json`);
		await command(`${name} as text`, line);
	}

	return { root, goldens, load, command, both };
}
