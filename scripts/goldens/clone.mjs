// The commands of a built clone, run in this process.
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** Options of a training that takes a moment. */
export const quickTraining = "--epochs 1 --threads 1 --batch-shapes 1 --train-patients 48";

/** Settings of a model as options of pretrain. */
export const sizes = (settings) =>
	Object.entries(settings)
		.map(([name, value]) => `--set ${name}=${value}`)
		.join(" ");

/** The smaller population, and the dataset that models are trained on. */
export const simulateData = "simulate --patients 400 --seed 1 --out sim --json";
export const prepareData =
	"prepare sim --from csv --out data --min-records 5 --min-count 25 --splits 45,10,45 --label planted=planted.csv --json";

/** Opens a built clone. Commands run in the current folder. */
export async function openClone(root, say) {
	const goldens = new Map();
	const load = (path) => import(pathToFileURL(join(root, "dist", path)).href);
	const { run } = await load("app/commands/run.js");

	async function output(line) {
		const written = { stdout: "", stderr: "" };
		const into = (stream) => ({
			write: (text) => {
				written[stream] += text;
			},
		});
		const io = { stdout: into("stdout"), stderr: into("stderr"), env: {} };
		return { code: await run(line.split(/ +/), io), ...written };
	}

	/** Keeps what a command line prints: a document with --json, else lines; or why it refuses. */
	async function command(name, line) {
		const before = process.cpuUsage();
		const { code, stdout, stderr } = await output(line);
		const error = stderr.trimEnd().split("\n").slice(-3);
		if (code !== 0) goldens.set(name, { exit: code, error });
		else goldens.set(name, line.includes("--json") ? JSON.parse(stdout) : stdout.split("\n"));
		const { user, system } = process.cpuUsage(before);
		const failure = code === 0 ? "" : `, exit ${code}: ${error.join(" ")}`;
		say(`${name}: ${Math.round((user + system) / 1000)} ms of processor time${failure}`);
	}

	/** Runs `NAME: COMMAND LINE` of each line of a text; of `NAME +`, both the document and what is printed are kept. */
	async function commands(text) {
		for (const [, name, isBoth, line] of text.matchAll(/^\s*(.+?)( \+)?: (.+)$/gm)) {
			await command(name, isBoth ? `${line} --json` : line);
			if (isBoth) await command(`${name} as text`, line);
		}
	}

	return { root, goldens, load, commands };
}
