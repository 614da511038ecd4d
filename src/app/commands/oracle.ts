import { z } from "zod";
import { InputError } from "../../base/errors.js";
import { percent, table } from "../../base/table.js";
import { isoDate } from "../../base/time.js";
import {
	conditions,
	isCovered,
	oracleOf,
	patientNumber,
	readTruth,
	type SimulatedPatient,
	simulatedHistory,
	simulatePatient,
} from "../../data/simulate/index.js";
import { defineCommand, defineCommands } from "./define-command.js";
import { date, type Fields, flag, option, seed, type Values, whole } from "./fields.js";
import { type Io, printJson } from "./io.js";

const simulation = z.string().describe("folder written by `trajgpt simulate`");
const patient = option("id", "patient to predict for", z.string());
const dayAfter = (known: string) =>
	option("date", `query day; records ${known} that day are known`, date);

const nextOptions = {
	patient,
	at: dayAfter("before"),
	top: whole(1, 100_000).default(10).describe("number of codes to list"),
	json: flag("print one JSON document, with all codes"),
};

const next = defineCommand({
	name: "next",
	description:
		"Print the true distribution of the next code, given that the next record is on a certain day.\n" +
		"It is exact: it follows from the rates that the population was drawn with. The person must\n" +
		"be alive and insured on that day.",
	arguments: { simulation },
	options: nextOptions,
	examples: {
		"trajgpt oracle next sim --patient p000060 --at 2012-06-01": "the most likely codes",
	},
	run: printNext,
});

const riskOptions = {
	patient,
	at: dayAfter("up to"),
	code: option("phecode", "code to predict", z.string()),
	within: option("days", "days ahead", whole(1, 36_525).default(365)),
	samples: whole(2, 10_000_000).default(2000).describe("number of futures to sample"),
	seed: seed.default(0).describe("seed of the futures"),
	json: flag("print one JSON document"),
};

const risk = defineCommand({
	name: "risk",
	description:
		"Estimate the true probability that a code is recorded within some days after a certain day,\n" +
		"from sampled futures. The person must be alive on that day, and it must lie between the start\n" +
		"of the first and the end of the last policy.",
	arguments: { simulation },
	options: riskOptions,
	examples: {
		"trajgpt oracle risk sim --patient p000060 --at 2012-06-01 --code 428":
			"heart failure within a year",
	},
	run: printRisk,
});

const checkOptions = {
	patients: whole(10, 10_000_000).default(1000).describe("number of people to use"),
	samples: whole(4, 1_000_000).default(200).describe("futures to sample per risk"),
	seed: seed.default(0).describe("seed of the choice of records and days"),
	json: flag("print one JSON document"),
};

const check = defineCommand({
	name: "check",
	description:
		"Score the reference model on its own population: against counts and against itself with perturbed\n" +
		"histories, in nats (lower is better), and compare its one-year risks with observed records.",
	arguments: { simulation },
	options: checkOptions,
	examples: { "trajgpt oracle check sim": "takes a minute or two" },
	run: printCheck,
});

export const command = defineCommands(
	{
		name: "oracle",
		description:
			"Print the true probabilities of a simulated population, by the reference model: the best possible forecast.",
		examples: {
			"trajgpt oracle next sim --patient p000060 --at 2012-06-01": "the most likely codes",
			"trajgpt oracle check sim": "the reference model against counting",
		},
	},
	{
		"print the true distribution of the next code": next,
		"estimate the true risk of a code over time": risk,
		"check that the reference model beats counting and is calibrated": check,
	},
);

type Called<F extends Fields> = Values<F> & { readonly simulation: string };

/** Simulates a patient again from the folder's seed, without reading its files. */
async function patientOf(folder: string, id: string): Promise<SimulatedPatient> {
	const { seed, patients } = await readTruth(folder);
	const number = patientNumber(id);
	if (number === undefined || number > patients)
		throw new InputError(
			`${folder} has no patient "${id}"; expected p000001 to p${String(patients).padStart(6, "0")}`,
		);
	return simulatePatient(seed, number);
}

/** The simulation is defined for living people between their first and last policy only. */
function checkAlive({ id, person, death }: SimulatedPatient, at: number): void {
	if (death !== null && at >= death)
		throw new InputError(
			`${id} died on ${isoDate(death)}, --at is ${isoDate(at)}; choose a day before that`,
		);
	const [first, last] = [person.coverage[0]![0], person.coverage.at(-1)![1]];
	if (at < first || at > last)
		throw new InputError(
			`${id} is insured from ${isoDate(first)} to ${isoDate(last)}, --at is ${isoDate(at)}; choose a day in that period`,
		);
}

async function printNext(
	io: Io,
	{ simulation: folder, ...options }: Called<typeof nextOptions>,
): Promise<void> {
	const truth = await oracleOf(folder);
	const patient = await patientOf(folder, options.patient);
	checkAlive(patient, options.at);
	if (!isCovered(patient.person, options.at))
		throw new InputError(
			`${options.patient} is not insured on ${isoDate(options.at)}: the policy had lapsed, so nothing is recorded then; choose another --at`,
		);
	const history = simulatedHistory(patient, options.at - 1);
	const p = truth.next(history, options.at);
	const codes = conditions
		.map(({ code, name }, at) => ({ code, name, probability: p[at] as number }))
		.sort((a, b) => b.probability - a.probability);
	if (options.json)
		printJson(io, {
			patient: options.patient,
			at: isoDate(options.at),
			known: history.events.length,
			codes,
		});
	else
		io.stdout.write(
			`${options.patient}: ${history.events.length} records before ${isoDate(options.at)}. If something is recorded then, it is\n\n${table(
				["code", "name", "probability"],
				codes.slice(0, options.top).map((c) => [c.code, c.name, percent(c.probability)]),
			)}`,
		);
}

async function printRisk(
	io: Io,
	{ simulation: folder, ...options }: Called<typeof riskOptions>,
): Promise<void> {
	const { at, within, samples, seed, code } = options;
	const truth = await oracleOf(folder);
	const patient = await patientOf(folder, options.patient);
	checkAlive(patient, at);
	const history = simulatedHistory(patient, at);
	const steps = Array.from({ length: 4 }, (_, i) => at + Math.ceil((within * (i + 1)) / 4));
	const risks = truth.risk(history, code, steps, { samples, seed, known: at });
	const points = steps.map((day, i) => ({ date: isoDate(day), risk: risks[i] as number }));
	if (options.json)
		printJson(io, { patient: options.patient, code, at: isoDate(at), samples, points });
	else
		io.stdout.write(
			`${options.patient}, code ${code}, from ${samples} futures after ${isoDate(at)}\n\n${table(
				["recorded by", "chance"],
				points.map((point) => [point.date, percent(point.risk)]),
			)}`,
		);
}

async function printCheck(
	io: Io,
	{ simulation: folder, ...options }: Called<typeof checkOptions>,
): Promise<void> {
	const { checkOracle } = await import("../../data/simulate/check.js");
	const { seed, patients } = await readTruth(folder);
	await oracleOf(folder);
	const result = checkOracle({
		...options,
		population: seed,
		patients: Math.min(patients, options.patients),
	});
	if (options.json) return printJson(io, result);
	const { nats, calibration } = result;
	io.stdout.write(
		[
			`${result.targets} records of ${result.patients} people; mean −log p of the recorded codes:\n\n`,
			table(
				["forecast", "nats"],
				nats.map(({ name, nats }) => [name, nats.toFixed(3)]),
			),
			`\nRisks of every code within a year, ${calibration.people} people, in ${calibration.cells} cells (a code and a range of risk):\n`,
			calibration.cells === 0
				? "too few people to tell whether the risks are calibrated; simulate more, or raise --patients\n"
				: `${percent(calibration.within95)} of cells lie within their 95 % interval, ${percent(calibration.within99)} within their 99 % interval; ${calibration.ratio.toFixed(3)} records seen for each expected\n`,
		].join(""),
	);
}
