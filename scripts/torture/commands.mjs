// Every command that writes files, at a small size, and the files of an uninterrupted run.
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { faultOf, hashesIn, run } from "./process.mjs";

const onDataset = "--dataset DATASET --threads 1";

/**
 * Words in capitals stand for parts of the world; commands on a run work in a copy of it. `result` is a file that two
 * unbroken runs must leave the same; `resume` goes on with what was interrupted, once the file `begun` is there.
 */
const lines = {
	simulate: {
		line: "simulate --patients PATIENTS --seed 3 --out PLACE/out --force",
		result: "out/claims.csv",
	},
	prepare: {
		line: "prepare POPULATION --from csv --threads 1 --out PLACE/out --force",
		result: "out/vocabulary.json",
	},
	pretrain: {
		line: "pretrain DATASET --out PLACE/out TRAINING --checkpoint-every 3",
		resume: "pretrain DATASET --out PLACE/out --resume --threads 1",
		begun: "out/run.json",
		result: "out/best/state.safetensors",
	},
	export: { line: "export PLACE/run --out PLACE/out --force", result: "out/step.onnx" },
	finetune: {
		line: `finetune PLACE/run ${onDataset} --task insulin --epochs 2 --max-length 64 --checkpoint-every 2`,
		resume: `finetune PLACE/run ${onDataset} --task insulin --resume`,
		begun: "run/tasks/insulin/task.json",
		result: "run/tasks/insulin/best/state.safetensors",
	},
	evaluate: { line: `evaluate PLACE/run ${onDataset} --task next --draws 20` },
	embed: {
		line: `embed PLACE/run ${onDataset} --out PLACE/codes.csv --force`,
		result: "codes.csv",
	},
	report: { line: `report PLACE/run ${onDataset}`, result: "run/figures/memory.svg" },
	compare: {
		line: "compare DATASET --models gpt2 --tasks forecast --epochs 1 --max-length 64 --futures 8 --jobs 1 --out PLACE/out",
		result: "out/runs/gpt2-s1/best/state.safetensors",
	},
};
export const commands = Object.entries(lines).map(([name, command]) => ({ name, ...command }));

/** The command of a step: they take turns. */
export const commandOf = (step, among = commands) => among[step % among.length];

/** The words of a command line in a folder. */
export function argvOf(world, line, place) {
	const parts = {
		PLACE: place,
		PATIENTS: world.patients,
		POPULATION: world.population,
		DATASET: world.dataset,
		FHIR: world.fhir,
		RUN: world.run,
	};
	const words = line.replace("TRAINING", () => world.training).split(" ");
	return words.map((word) => word.replace(/[A-Z]{3,}/, (name) => String(parts[name] ?? name)));
}

/** A folder in which a command can begin. */
export function makePlace(world, command, place = mkdtempSync(join(world.folder, "place-"))) {
	mkdirSync(place, { recursive: true });
	if (command.line.includes("PLACE/run"))
		cpSync(world.run, join(place, "run"), { recursive: true });
	return place;
}

/** What `make` gives, made once. */
export function madeOnce({ made }, name, make) {
	if (!made.has(name)) made.set(name, make());
	return made.get(name);
}

/** Two unbroken runs: how long, and which files they leave the same. */
export const referenceOf = (world, command) =>
	madeOnce(world, command.name, () => makeReference(world, command));

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
	const isLog = (name) => /^out\/logs\//.test(name);
	const hashes = new Map(
		[...first.hashes].filter(([name, hash]) => !isLog(name) && second.hashes.get(name) === hash),
	);
	if (command.result && !hashes.has(command.result))
		throw new Error(`${command.name}: two unbroken runs leave different ${command.result}`);
	return { seconds: Math.min(first.seconds, second.seconds), hashes };
}

/** The same command again, or its --resume, must end well and leave what an unbroken run leaves. */
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

function differenceFrom(reference, place) {
	const hashes = hashesIn(place);
	for (const [name, hash] of reference.hashes)
		if (hashes.get(name) !== hash)
			return `${name} ${hashes.has(name) ? "differs from" : "is missing, unlike after"} an unbroken run`;
	const leftover = [...hashes.keys()].find((name) => /\.tmp\b|\.tmp-/.test(name));
	return leftover && `left ${leftover} behind`;
}
