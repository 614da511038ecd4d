// Every command that writes files, at a small size, and the files of an uninterrupted run.
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { hashesIn } from "./files.mjs";
import { faultOf, run } from "./process.mjs";

/** @typedef {import("./world.mjs").World} World */
/** @typedef {import("../../dist/base/random.js").Random} Random */

/**
 * @typedef {object} Command
 * @property {string} name
 * @property {string} line its words; those in capitals stand for parts of the world
 * @property {string} [result] a file that two unbroken runs must leave the same
 * @property {string} [resume] goes on with what was interrupted
 * @property {string} [begun] the file from whose presence on there is something to resume
 */

const onDataset = "--dataset DATASET --threads 1";

/** Commands on a run work in a copy of it. */
/** @type {readonly Command[]} */
export const commands = [
	{
		name: "simulate",
		line: "simulate --patients PATIENTS --seed 3 --out PLACE/out --force",
		result: "out/claims.csv",
	},
	{
		name: "prepare",
		line: "prepare POPULATION --from csv --threads 1 --out PLACE/out --force",
		result: "out/vocabulary.json",
	},
	{
		name: "pretrain",
		line: "pretrain DATASET --out PLACE/out TRAINING --checkpoint-every 3",
		resume: "pretrain DATASET --out PLACE/out --resume --threads 1",
		begun: "out/run.json",
		result: "out/best/state.safetensors",
	},
	{
		name: "export",
		line: "export PLACE/run --out PLACE/out --force",
		result: "out/step.onnx",
	},
	{
		name: "finetune",
		line: `finetune PLACE/run ${onDataset} --task insulin --epochs 2 --max-length 64 --checkpoint-every 2`,
		resume: `finetune PLACE/run ${onDataset} --task insulin --resume`,
		begun: "run/tasks/insulin/task.json",
		result: "run/tasks/insulin/best/state.safetensors",
	},
	{
		name: "evaluate",
		line: `evaluate PLACE/run ${onDataset} --task next --draws 20`,
	},
	{
		name: "embed",
		line: `embed PLACE/run ${onDataset} --out PLACE/codes.csv --force`,
		result: "codes.csv",
	},
	{
		name: "report",
		line: `report PLACE/run ${onDataset}`,
		result: "run/figures/memory.svg",
	},
	{
		name: "compare",
		line: "compare DATASET --models gpt2 --tasks forecast --epochs 1 --max-length 64 --futures 8 --jobs 1 --out PLACE/out",
		result: "out/runs/gpt2-s1/best/state.safetensors",
	},
];

/** The command of a step: they take turns. */
export const commandOf = (/** @type {number} */ step, among = commands) =>
	/** @type {Command} */ (among[step % among.length]);

/** The words of a command line in a folder. */
export function argvOf(
	/** @type {World} */ world,
	/** @type {string} */ line,
	/** @type {string} */ place,
) {
	/** @type {Record<string, string | number>} */
	const parts = {
		PLACE: place,
		PATIENTS: world.patients,
		POPULATION: world.population,
		DATASET: world.dataset,
		FHIR: world.fhir,
		RUN: world.run,
	};
	const words = line.replace("TRAINING", () => world.training.join(" ")).split(" ");
	return words.map((word) => word.replace(/[A-Z]{3,}/, (name) => String(parts[name] ?? name)));
}

/** A folder in which a command can begin. */
export function makePlace(
	/** @type {World} */ world,
	/** @type {Command} */ command,
	place = mkdtempSync(join(world.folder, "place-")),
) {
	mkdirSync(place, { recursive: true });
	if (command.line.includes("PLACE/run"))
		cpSync(world.run, join(place, "run"), { recursive: true });
	return place;
}

/**
 * @typedef {object} Reference
 * @property {number} seconds of one unbroken run
 * @property {ReadonlyMap<string, string>} hashes of the files that two unbroken runs leave the same
 */

/** @type {WeakMap<World, Map<string, Promise<Reference>>>} */
const references = new WeakMap();

/**
 * Two unbroken runs: how long, and which files they leave the same. Made once.
 * @param {World} world @param {Command} command
 * @returns {Promise<Reference>}
 */
export function referenceOf(world, command) {
	const known = references.get(world) ?? new Map();
	references.set(world, known);
	const reference = known.get(command.name) ?? makeReference(world, command);
	known.set(command.name, reference);
	return reference;
}

/** @param {World} world @param {Command} command @returns {Promise<Reference>} */
async function makeReference(world, command) {
	const unbroken = async () => {
		const place = makePlace(world, command);
		const finished = await run(argvOf(world, command.line, place));
		if (finished.code !== 0)
			throw new Error(`${command.name}, unbroken: ${faultOf(finished) ?? finished.stderr}`);
		const made = { seconds: finished.seconds, hashes: hashesIn(place) };
		rmSync(place, { recursive: true });
		return made;
	};
	const [first, second] = [await unbroken(), await unbroken()];
	// A progress log depends on how often a command was run.
	const isLog = (/** @type {string} */ name) => /^out\/logs\//.test(name);
	const hashes = new Map(
		[...first.hashes].filter(([name, hash]) => !isLog(name) && second.hashes.get(name) === hash),
	);
	if (command.result && !hashes.has(command.result))
		throw new Error(`${command.name}: two unbroken runs leave different ${command.result}`);
	return { seconds: Math.min(first.seconds, second.seconds), hashes };
}

/**
 * The same command again, or its --resume, must end well and leave what an unbroken run leaves.
 * @param {World} world @param {Command} command @param {string} place
 * @returns {Promise<string | undefined>} what is wrong
 */
export async function recover(world, command, place) {
	const refusals = [];
	for (const line of command.resume ? [command.resume, command.line] : [command.line]) {
		const finished = await run(argvOf(world, line, place));
		const fault = faultOf(finished);
		if (fault) return `again: ${fault}`;
		if (finished.code === 0) return differenceFrom(await referenceOf(world, command), place);
		refusals.push(finished.stderr.trim().slice(-200));
	}
	return `cannot be run again: ${refusals.join(" | ")}`;
}

/** @param {Reference} reference @param {string} place */
function differenceFrom(reference, place) {
	const hashes = hashesIn(place);
	for (const [name, hash] of reference.hashes)
		if (hashes.get(name) !== hash)
			return `${name} ${hashes.has(name) ? "differs from" : "is missing, unlike after"} an unbroken run`;
	const leftover = [...hashes.keys()].find((name) => /\.tmp\b|\.tmp-/.test(name));
	return leftover && `left ${leftover} behind`;
}
