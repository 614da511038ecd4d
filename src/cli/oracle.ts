import { Command } from "commander";
import { InputError } from "../base/errors.js";
import { isoDate } from "../base/time.js";
import {
	conditions,
	isCovered,
	oracleOf,
	patientNumber,
	readTruth,
	type SimulatedPatient,
	simulatedHistory,
	simulatePatient,
} from "../simulate/index.js";
import { examples } from "./examples.js";
import type { Io } from "./io.js";
import { printJson } from "./io.js";
import { dateDay, seedNumber, wholeNumber } from "./option-values.js";
import { percent, table } from "./table.js";

interface Asked {
	readonly patient: string;
	readonly at: number;
	readonly json?: true;
}
interface NextOptions extends Asked {
	readonly top: number;
}
interface RiskOptions extends Asked {
	readonly code: string;
	readonly within: number;
	readonly samples: number;
	readonly seed: number;
}
interface CheckOptions {
	readonly patients: number;
	readonly samples: number;
	readonly seed: number;
	readonly json?: true;
}

export function command(io: Io): Command {
	const asked = (name: string, known: string) =>
		new Command(name)
			.argument("<simulation>", "folder that simulate wrote")
			.requiredOption("--patient <id>", "whom it is about")
			.requiredOption(
				"--at <date>",
				`when it is asked; records ${known} that day are known`,
				dateDay,
			);
	const next = asked("next", "before")
		.description(
			"The true distribution of the next code, if the next record is on a day: exact, by the law\n" +
				"the population was drawn from. The person must be alive and insured on that day.",
		)
		.option("--top <n>", "how many codes to list", wholeNumber(1, 100_000), 10)
		.option("--json", "print one JSON document, with all codes")
		.addHelpText(
			"after",
			examples({
				"trajgpt oracle next sim --patient p000060 --at 2012-06-01": "what is to be expected",
			}),
		)
		.action((folder: string, options: NextOptions) => answerNext(io, folder, options));
	const risk = asked("risk", "up to")
		.description(
			"The true chance that a code is recorded within some days after a day, by sampled futures.\n" +
				"The person must be alive on that day, and it must lie within the time of the policies.",
		)
		.requiredOption("--code <phecode>", "which code")
		.option("--within <days>", "days ahead", wholeNumber(1, 36_525), 365)
		.option("--samples <n>", "futures to sample", wholeNumber(2, 10_000_000), 2000)
		.option("--seed <n>", "seed of the futures", seedNumber, 0)
		.option("--json", "print one JSON document")
		.addHelpText(
			"after",
			examples({
				"trajgpt oracle risk sim --patient p000060 --at 2012-06-01 --code 428":
					"of heart failure within a year",
			}),
		)
		.action((folder: string, options: RiskOptions) => answerRisk(io, folder, options));
	const check = new Command("check")
		.description(
			"Scores the oracle on its own population: against counts and against itself with spoilt\n" +
				"histories, in nats (lower is better), and its one-year risks against what happened.",
		)
		.argument("<simulation>", "folder that simulate wrote")
		.option("--patients <n>", "how many of its people to use", wholeNumber(10, 10_000_000), 1000)
		.option("--samples <n>", "futures to sample for each risk", wholeNumber(4, 1_000_000), 200)
		.option("--seed <n>", "of the choice of records and days", seedNumber, 0)
		.option("--json", "print one JSON document")
		.addHelpText("after", examples({ "trajgpt oracle check sim": "takes a minute or two" }))
		.action((folder: string, options: CheckOptions) => answerCheck(io, folder, options));
	return new Command("oracle")
		.description(
			"Tells the truth behind a simulated population: what is the best possible forecast?",
		)
		.addCommand(next.summary("the true distribution of the next code"))
		.addCommand(risk.summary("the true risk of a code over time"))
		.addCommand(check.summary("is the oracle better than counting, and calibrated"))
		.addHelpText(
			"after",
			examples({
				"trajgpt oracle next sim --patient p000060 --at 2012-06-01": "what is to be expected",
				"trajgpt oracle check sim": "how much better than counting",
			}),
		);
}

/** The patients of a folder follow from its seed: their files need not be read. */
async function patientOf(folder: string, id: string): Promise<SimulatedPatient> {
	const { seed, patients } = await readTruth(folder);
	const number = patientNumber(id);
	if (number === undefined || number > patients)
		throw new InputError(
			`${folder} has no patient "${id}"; expected p000001 to p${String(patients).padStart(6, "0")}`,
		);
	return simulatePatient(seed, number);
}

/** Of the dead, and of the time before and after the policies, the law says nothing. */
function checkAlive({ id, person, death }: SimulatedPatient, at: number): void {
	if (death !== null && at >= death)
		throw new InputError(
			`${id} died on ${isoDate(death)}, --at is ${isoDate(at)}; choose a day before that`,
		);
	const [first, last] = [person.coverage[0]![0], person.coverage.at(-1)![1]];
	if (at < first || at > last)
		throw new InputError(
			`${id} is insured from ${isoDate(first)} to ${isoDate(last)}, --at is ${isoDate(at)}; choose a day of that time`,
		);
}

async function answerNext(io: Io, folder: string, options: NextOptions): Promise<void> {
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

async function answerRisk(io: Io, folder: string, options: RiskOptions): Promise<void> {
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

async function answerCheck(io: Io, folder: string, options: CheckOptions): Promise<void> {
	const { checkOracle } = await import("../simulate/check/index.js");
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
			`${result.targets} records of ${result.patients} people; mean −log p of what came:\n\n`,
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
