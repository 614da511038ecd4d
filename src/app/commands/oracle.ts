import { z } from "zod";
import { InputError } from "../../base/errors.js";
import { percent, table } from "../../base/table.js";
import { isoDate } from "../../base/time.js";
import * as simulator from "../../data/simulate/index.js";
import { defineCommand, defineCommands } from "./define-command.js";
import { date, flag, option, seed, whole } from "./fields.js";
import { printJson } from "./io.js";

const simulation = z.string().describe("folder written by `trajgpt simulate`");
const patient = option("id", "patient to predict for", z.string());
const dayAfter = (known: string) =>
	option("date", `query day; records ${known} that day are known`, date);

const next = defineCommand({
	name: "next",
	description:
		"Print the true distribution of the next code, given that the next record is on a certain day.\n" +
		"It is exact: it follows from the rates that the population was drawn with. The person must\n" +
		"be alive and insured on that day.",
	arguments: { simulation },
	options: {
		patient,
		at: dayAfter("before"),
		top: whole(1, 100_000).default(10).describe("number of codes to list"),
		json: flag("print one JSON document, with all codes"),
	},
	examples: {
		"trajgpt oracle next sim --patient p000060 --at 2012-06-01": "the most likely codes",
	},
	async run(io, { simulation: folder, patient: id, at, top, json }) {
		const { truth, patient } = await asked(folder, id, at);
		const date = isoDate(at);
		if (!simulator.isCovered(patient.person, at))
			throw new InputError(
				`${id} is not insured on ${date}: the policy had lapsed, so nothing is recorded then; choose another --at`,
			);
		const history = simulator.simulatedHistory(patient, at - 1);
		const known = history.events.length;
		const p = truth.next(history, at);
		const codes = simulator.conditions
			.map(({ code, name }, i) => ({ code, name, probability: p[i] as number }))
			.sort((a, b) => b.probability - a.probability);
		if (json) return printJson(io, { patient: id, at: date, known, codes });
		const rows = codes.slice(0, top).map((c) => [c.code, c.name, percent(c.probability)]);
		io.stdout.write(
			`${id}: ${known} records before ${date}. If something is recorded then, it is\n\n${table(["code", "name", "probability"], rows)}`,
		);
	},
});

const risk = defineCommand({
	name: "risk",
	description:
		"Estimate the true probability that a code is recorded within some days after a certain day,\n" +
		"from sampled futures. The person must be alive on that day, and it must lie between the start\n" +
		"of the first and the end of the last policy.",
	arguments: { simulation },
	options: {
		patient,
		at: dayAfter("up to"),
		code: option("phecode", "code to predict", z.string()),
		within: option("days", "days ahead", whole(1, 36_525).default(365)),
		samples: whole(2, 10_000_000).default(2000).describe("number of futures to sample"),
		seed: seed.default(0).describe("seed of the futures"),
		json: flag("print one JSON document"),
	},
	examples: {
		"trajgpt oracle risk sim --patient p000060 --at 2012-06-01 --code 428":
			"heart failure within a year",
	},
	async run(io, { simulation: folder, patient: id, at, within, samples, seed, code, json }) {
		const { truth, patient } = await asked(folder, id, at);
		const days = Array.from({ length: 4 }, (_, i) => at + Math.ceil((within * (i + 1)) / 4));
		const history = simulator.simulatedHistory(patient, at);
		const risks = truth.risk(history, code, days, { samples, seed, known: at });
		const points = days.map((day, i) => ({ date: isoDate(day), risk: risks[i] as number }));
		if (json) return printJson(io, { patient: id, code, at: isoDate(at), samples, points });
		const rows = points.map(({ date, risk }) => [date, percent(risk)]);
		io.stdout.write(
			`${id}, code ${code}, from ${samples} futures after ${isoDate(at)}\n\n${table(["recorded by", "chance"], rows)}`,
		);
	},
});

const check = defineCommand({
	name: "check",
	description:
		"Score the reference model on its own population: against counts and against itself with perturbed\n" +
		"histories, in nats (lower is better), and compare its one-year risks with observed records.",
	arguments: { simulation },
	options: {
		patients: whole(10, 10_000_000).default(1000).describe("number of people to use"),
		samples: whole(4, 1_000_000).default(200).describe("futures to sample per risk"),
		seed: seed.default(0).describe("seed of the choice of records and days"),
		json: flag("print one JSON document"),
	},
	examples: { "trajgpt oracle check sim": "takes a minute or two" },
	async run(io, { simulation: folder, json, ...options }) {
		const { checkOracle } = await import("../../data/simulate/check.js");
		const { seed: population, patients } = await simulator.readTruth(folder);
		await simulator.oracleOf(folder);
		const checkedPatients = Math.min(patients, options.patients);
		const result = checkOracle({ ...options, population, patients: checkedPatients });
		if (json) return printJson(io, result);
		const { nats, calibration } = result;
		const rows = nats.map(({ name, nats }) => [name, nats.toFixed(3)]);
		io.stdout.write(
			[
				`${result.targets} records of ${result.patients} people; mean −log p of the recorded codes:\n\n`,
				table(["forecast", "nats"], rows),
				`\nRisks of every code within a year, ${calibration.people} people, in ${calibration.cells} cells (a code and a range of risk):\n`,
				calibration.cells === 0
					? "too few people to tell whether the risks are calibrated; simulate more, or raise --patients\n"
					: `${percent(calibration.within95)} of cells lie within their 95 % interval, ${percent(calibration.within99)} within their 99 % interval; ${calibration.ratio.toFixed(3)} records seen for each expected\n`,
			].join(""),
		);
	},
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

/** Simulates a patient again from the folder's seed, without reading its files; refuses a day that is not defined. */
async function asked(folder: string, id: string, at: number) {
	const truth = await simulator.oracleOf(folder);
	const { seed, patients } = await simulator.readTruth(folder);
	const number = simulator.patientNumber(id);
	if (number === undefined || number > patients)
		throw new InputError(
			`${folder} has no patient "${id}"; expected p000001 to p${String(patients).padStart(6, "0")}`,
		);
	const patient = simulator.simulatePatient(seed, number);
	const { person, death } = patient;
	if (death !== null && at >= death)
		throw new InputError(
			`${id} died on ${isoDate(death)}, --at is ${isoDate(at)}; choose a day before that`,
		);
	// The simulation is defined between the first and the last policy only.
	const [first, last] = [person.coverage[0]![0], person.coverage.at(-1)![1]];
	if (at < first || at > last)
		throw new InputError(
			`${id} is insured from ${isoDate(first)} to ${isoDate(last)}, --at is ${isoDate(at)}; choose a day in that period`,
		);
	return { truth, patient };
}
