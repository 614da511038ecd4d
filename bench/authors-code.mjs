import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { z } from "zod";
import { option, whole } from "../dist/app/commands/fields.js";
import { InputError } from "../dist/base/errors.js";
import { formatCount } from "../dist/base/progress.js";
import { specialCount } from "../dist/data/cohort/vocabulary.js";
import { openRuntime } from "../dist/engine/runtime/open-runtime.js";
import { weightCount } from "../dist/model/index.js";
import * as bench from "./shared.mjs";
import { race, startTrajgpt, timingTable } from "./step.mjs";
import { randomBatch, startScript, subjectOf } from "./subject.mjs";

/** What the authors' code imports. */
const modules = ["torch", "transformers", "pandas", "sklearn", "prettytable", "psutil"];

function checkCheckout(checkout) {
	if (!existsSync(join(checkout, "models", "TrajGPT.py")))
		throw new InputError(
			`--checkout ${checkout} has no models/TrajGPT.py; expected a clone of https://github.com/li-lab-mcgill/TrajGPT`,
		);
}

async function checkPython(python) {
	const code = `import importlib.util as u; print(*[m for m in ${JSON.stringify(modules)} if u.find_spec(m) is None])`;
	let missing;
	try {
		missing = (await bench.output(python, ["-c", code])).trim();
	} catch (error) {
		throw new InputError(`--python ${python} does not run: ${error.message}`, { cause: error });
	}
	if (missing)
		throw new InputError(
			`--python ${python} lacks ${missing.replaceAll(" ", ", ")}, which the authors' code imports; install them, or name another Python`,
		);
}

async function measure(io, options) {
	const { batch, length, checkout, python, provider, precision, threads } = options;
	checkCheckout(checkout);
	await checkPython(python);
	const subject = subjectOf({ ...options, model: "trajgpt", objective: "next" }, length);
	const { layers, heads, dim, key, value, ff, vocab, temperature } = subject.config;
	const peer = startScript(python, "authors_step.py", {
		checkout: resolve(checkout),
		device: provider === "xla" ? "cuda" : "cpu",
		threads,
		rows: batch,
		length,
		codes: vocab - specialCount,
		temperature,
		layers,
		heads,
		dim,
		key,
		value,
		ff,
	});
	try {
		const about = await peer.read();
		const runtime = await openRuntime(options, "training");
		const ours = startTrajgpt(runtime, subject, randomBatch(batch, length));
		try {
			const { steps: stepsPerRound, rounds } = options;
			const theirs = {
				name: "authors' code",
				label: about.engine,
				isSameModel: false,
				run: peer.ask,
				stop: peer.stop,
			};
			const size = { batch, length, precision: precision ?? "float32", stepsPerRound, rounds };
			return {
				parameters: weightCount(subject.weights),
				authorsParameters: about.parameters,
				authorsEngine: about.engine,
				engine: runtime.label,
				preset: options.preset,
				stepsPerRound,
				rounds,
				...(await race(io, ours, [theirs], size)),
			};
		} finally {
			await ours.stop();
		}
	} finally {
		peer.stop();
	}
}

const render = (report) =>
	[
		`trajgpt ${report.preset}, ${formatCount(report.parameters)} parameters, ${report.engine}\n`,
		`authors' code, ${formatCount(report.authorsParameters)} learned parameters, ${report.authorsEngine}\n`,
		`medians of ${report.rounds} rounds of ${report.stepsPerRound} steps\n\n`,
		timingTable([report]),
	].join("");

export const command = bench.benchmark({
	name: "authors-code",
	description:
		"Time one training step of a checkout of the paper's authors' code, and of ours, in turns.\n" +
		"Both have the sizes of the preset and predict the next of 195 random codes. The ratio is\n" +
		"their time divided by ours. The models differ (docs/paper-to-code.md), so their losses do.",
	options: {
		checkout: option("folder", "clone of https://github.com/li-lab-mcgill/TrajGPT", z.string()),
		python: option("program", `Python with ${modules.join(", ")}`, z.string().default("python3")),
		...bench.modelFields("paper"),
		batch: whole(1, 65_536).default(16).describe("rows per batch"),
		length: whole(2, 100_000).default(128).describe("events per row"),
		steps: bench.countField("steps per round", 5),
		rounds: bench.countField("rounds", 3, 1000),
	},
	examples: {
		"node bench/main.mjs authors-code --checkout ../TrajGPT": "on the CPU",
		"node bench/main.mjs authors-code --checkout ../TrajGPT --provider xla": "on an accelerator",
	},
	measure,
	render,
	failed: ({ failed }) => failed.length > 0,
});
