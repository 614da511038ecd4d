import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { captured } from "../../app/commands/testing/captured.js";
import { clinicRun } from "../../app/commands/testing/clinic-run.js";
import { InputError } from "../../base/errors.js";
import { builtInMap } from "../../data/codes/index.js";
import { specialTokens } from "../../data/cohort/vocabulary.js";
import { nodeRuntime } from "../../engine/runtime/node.js";
import type { Predictor } from "../../model/index.js";
import { readTrained, type Trained } from "../../model/train/index.js";
import { callsThrough } from "../browser/open-export.js";
import { type Calls, callsOf } from "../calls.js";
import { openedExport, readExport } from "../export/read-export.js";
import { type HazardModel, hazardModel, incidences, predictAt, representations } from "../index.js";
import { loadModel, readerFromFolder } from "./load-model.js";
import { type LoadedModel, loadedModel } from "./model.js";
import type { Patient } from "./patient.js";

const runtime = nodeRuntime({ threads: 1, purpose: "inference" });
let root: string;
let trained: Trained;
let predictor: Predictor;
let hazards: HazardModel;
/** The run, and its export as a page has it: behind calls whose arguments and results are cloned. */
let models: Readonly<Record<"run" | "export", LoadedModel>>;
let model: LoadedModel;

type Call = (...args: readonly unknown[]) => Promise<unknown>;

async function clonedModel(folder: string): Promise<LoadedModel> {
	const exported = await readExport(folder, readerFromFolder(folder));
	const { calls, close } = callsOf(runtime, exported);
	const cloned = callsThrough(async (method, args) =>
		structuredClone(await (calls[method as keyof Calls] as Call)(...structuredClone(args))),
	);
	return loadedModel(openedExport(exported, runtime), { calls: cloned, close }, builtInMap());
}

beforeAll(async () => {
	const made = await clinicRun();
	root = made.root;
	const out = join(root, "export");
	await captured(["export", made.run, "--out", out]);
	trained = readTrained(made.run);
	predictor = trained.model.predictor(runtime, trained.config, trained.weights);
	hazards = hazardModel(runtime, trained);
	models = {
		run: await loadModel(made.run, { threads: 1, map: builtInMap() }),
		export: await clonedModel(out),
	};
	model = models.run;
});
afterAll(async () => {
	for (const model of Object.values(models)) await model.close();
	await predictor.dispose();
	await hazards.dispose();
});

const patient: Patient = {
	sex: "female",
	birth: "1950-06-01",
	events: [
		{ code: "250", date: "2011-09-15" },
		{ code: "401", date: "2010-03-01" },
		{ code: "272", date: "2012-02-20" },
	],
};
const day = (date: string) => Date.parse(date) / 86_400_000;
const historyOf = () => model.read(patient).patient.history;

const apart = (a: ArrayLike<number>, b: ArrayLike<number>) => {
	expect(a.length).toBe(b.length);
	return Array.from(a).reduce((most, x, i) => Math.max(most, Math.abs(x - (b[i] as number))), 0);
};

describe("a loaded model", () => {
	test("reads a patient as a history in order of time, birth first", () => {
		const { tokens, times } = historyOf();
		const find = (code: string) => trained.vocabulary.find(code);
		expect([...tokens]).toEqual([specialTokens.female, find("401"), find("250"), find("272")]);
		expect(times[1]).toBe(day("2010-03-01"));
	});

	test("reads ICD codes and ages too", () => {
		const birth = day("1950-06-01");
		const byAge = (date: string) => (day(date) - birth) / 365.25;
		const { patient: read, axis } = model.read({
			sex: "female",
			events: [
				{ code: "250.02", system: "ICD-9-CM", age: byAge("2011-09-15") },
				{ code: "401", system: "PheCode", age: byAge("2010-03-01") },
				{ code: "272", age: byAge("2012-02-20") },
			],
		});
		expect(axis).toBe("days");
		const { tokens, times } = historyOf();
		expect([...read.history.tokens]).toEqual([...tokens]);
		const shifted = Array.from(times, (time) => time - birth);
		expect(apart(read.history.times, shifted)).toBeLessThan(1e-9);
	});

	test("forecasts", async () => {
		const { predictions, warnings } = await model.forecast(
			patient,
			["2014-06-01", "+1y", "age:70"],
			{ top: 3 },
		);
		const times = [day("2014-06-01"), day("2012-02-20") + 365.25, day("1950-06-01") + 70 * 365.25];
		const { logProbabilities, vocab } = await predictAt(predictor, [historyOf()], [times]);
		expect(warnings).toEqual([]);
		expect(predictions[0]).toMatchObject({ at: "2014-06-01", date: "2014-06-01", day: times[0] });
		expect(predictions[2]?.ageYears).toBeCloseTo(70, 9);
		for (const [i, { codes }] of predictions.entries()) {
			const own = Array.from(logProbabilities.subarray(i * vocab, (i + 1) * vocab), Math.exp);
			const best = own.slice(5).sort((a, b) => b - a);
			expect(
				apart(
					codes.map(({ probability }) => probability),
					best.slice(0, 3),
				),
			).toBeLessThan(1e-4);
			const token = trained.vocabulary.find(codes[0]?.code as string) as number;
			expect(trained.vocabulary.tokens[token]).toMatchObject({ name: codes[0]?.name });
			expect(own[token]).toBeCloseTo(codes[0]?.probability as number, 4);
		}
	});

	test("gives the probability of a first record within horizons", async () => {
		const { at, risks, warnings } = await model.risk(patient, ["428", "428.0"], ["1y", 730.5]);
		expect(at).toMatchObject({ date: "2012-02-20", ageYears: expect.closeTo(61.72, 2) });
		const code = trained.vocabulary.find("428") as number;
		const [[expected] = []] = await incidences(
			hazards,
			[historyOf()],
			[[code]],
			[[day("2012-02-20")]],
			[365.25, 730.5],
		);
		for (const risk of risks) {
			expect([risk.code, risk.recorded]).toEqual(["428", null]);
			expect(apart(risk.probabilities, expected?.probabilities ?? [])).toBeLessThan(1e-4);
		}
		expect(risks).toHaveLength(2);
		expect(risks[0]?.probabilities[1]).toBeGreaterThan(risks[0]?.probabilities[0] as number);
		expect(warnings).toEqual([expect.stringMatching(/^428\.0: .* 428 /)]);
	});

	test("samples whole futures", async () => {
		const draw = (seed: number) =>
			model.futures(patient, "2y", { samples: 5, seed, at: "2012-02-20" });
		const { at, futures, warnings } = await draw(1);
		expect(at.date).toBe("2012-02-20");
		expect(futures).toHaveLength(5);
		expect(warnings).toEqual([]);
		for (const { records, death } of futures)
			for (const { date, code, ageYears } of records) {
				expect(date! > "2012-02-20" && date! <= (death?.date ?? "2014-02-20")).toBe(true);
				expect(trained.vocabulary.find(code)).toBeGreaterThan(4);
				expect(ageYears).toBeGreaterThan(61);
			}
		expect((await draw(1)).futures).toEqual(futures);
		expect((await draw(2)).futures).not.toEqual(futures);
	});

	test("tells another record from the first, at any index day", async () => {
		const now = await model.risk(patient, ["250"], ["5y"]);
		expect(now.risks[0]?.recorded).toMatchObject({
			date: "2011-09-15",
			ageYears: expect.closeTo(61.29, 2),
		});
		const before = await model.risk(patient, ["250"], ["5y"], { at: "2011-09-14" });
		expect(before.at.date).toBe("2011-09-14");
		expect(before.risks[0]?.recorded).toBeNull();
	});

	test("answers for named groups, and to the longest horizon that was learned", async () => {
		const [group] = (trained.config as { hazards: { groups: { name: string }[] } }).hazards.groups;
		const name = group?.name as string;
		const { risks, warnings } = await model.risk(patient, [name], ["10y", "40y"]);
		expect(risks[0]).toMatchObject({ code: name, name });
		expect(risks[0]?.probabilities[1]).toBe(risks[0]?.probabilities[0]);
		expect(warnings).toEqual([
			"the model has learned risks up to 10 years ahead; 40 years are answered as 10 years",
		]);
	});

	test("gives one vector per patient", async () => {
		const first: Patient = { ...patient, events: patient.events.slice(0, 1) };
		const vectors = await model.embed([patient, first]);
		const histories = [patient, first].map((one) => model.read(one).patient.history);
		const expected = await representations(runtime, trained, histories);
		expect(vectors).toHaveLength(2);
		expect(apart([...vectors[0]!, ...vectors[1]!], expected)).toBeLessThan(1e-4);
		expect(await model.embed([])).toEqual([]);
	});

	test("of an export answers as that of its run, wherever its calls run", async () => {
		const history = historyOf();
		const times = ["2009-01-01", "2011-12-31", "2014-06-01"].map(day);
		const codes = model.tokens("428");
		const query = { risks: [codes], days: times, horizonDays: 1826 };
		const questions: ((of: LoadedModel) => Promise<unknown>)[] = [
			(of) => of.forecast(patient, ["+1y", "age:70"], { top: 3 }),
			(of) => of.risk(patient, ["428", "428.0"], ["1y", 730.5]),
			(of) => of.futures(patient, "2y", { samples: 5, seed: 1 }),
			(of) => of.embed([patient]),
			async (of) => [of.read(patient), of.tokens("428"), of.codes, of.task],
			async ({ calls }) =>
				calls.query(await calls.observe(await calls.start(1), [history]), [times.slice(2)]),
			({ calls }) => calls.codeProbabilities([history], [codes], [times]),
			({ calls }) => calls.attributeCodeProbability(history, { codes, times }),
			({ calls }) => calls.incidenceTrajectories([history], [codes], [times], 1826),
			({ calls }) => calls.attributeIncidence(history, query),
		];
		for (const question of questions)
			expect(await question(models.export)).toEqual(await question(models.run));
	});
});

describe("bad input gets a message", () => {
	const message = async (work: () => unknown) => {
		try {
			await work();
		} catch (error) {
			return error instanceof InputError ? error.message : `not an InputError: ${error}`;
		}
		return "nothing was wrong";
	};
	const reading = (events: Patient["events"], more: Partial<Patient> = {}) =>
		message(() => model.read({ ...more, events }));

	test("leaves out an unknown code of a history, with a warning", async () => {
		const events = [...patient.events, { code: "Z99.99", date: "2012-02-21" }];
		const { warnings } = await model.forecast({ ...patient, events }, ["+1y"]);
		expect(warnings).toEqual(["1 event has a code that the model does not know: Z99.99; left out"]);
	});

	test("rejects an unknown code in a query, and suggests similar ones", async () => {
		const asked = (code: string) => message(() => model.risk(patient, [code], ["1y"]));
		expect(await asked("asthma")).toBe("nothing was wrong");
		expect(await asked("astma")).toContain(
			'the model has no code "astma"; near it are 495 Asthma; expected one of its 30 codes',
		);
		expect(await asked("[SOS]")).toContain('the model has no code "[SOS]"');
	});

	test("rejects an invalid date, an event without a date, and a mixture of dates and days", async () => {
		expect(await reading([{ code: "401", date: "2010-02-30" }])).toContain(
			"`patient.events.0.date` is neither a date such as 2010-03-01 nor a number of days",
		);
		expect(await reading([{ code: "401", date: "0999-01-01" }])).toContain(
			"is not in a year between",
		);
		expect(await reading([{ code: "401" }])).toBe(
			"`patient.events.0` has neither a date nor an age; give one of them",
		);
		expect(await reading([{ code: "401", date: "2010-01-01", age: 3 }])).toContain(
			"has a date and an age",
		);
		expect(
			await reading([
				{ code: "401", date: "2010-01-01" },
				{ code: "401", age: 3 },
			]),
		).toContain("has an age, but the birth is unknown");
		expect(
			await reading([
				{ code: "401", date: "2010-01-01" },
				{ code: "401", date: 12 },
			]),
		).toBe(
			"`patient.events.0.date` is a date and `patient.events.1.date` is a day; use one kind throughout",
		);
		expect(await message(() => model.embed([patient, { events: [{ code: "" }] }]))).toContain(
			"`patients.1.events.0.code`",
		);
	});

	test("rejects an invalid time or horizon", async () => {
		expect(await message(() => model.forecast(patient, ["soon"]))).toContain(
			"Expected a date (2015-06-01)",
		);
		expect(await message(() => model.risk(patient, ["428"], [-3]))).toBe(
			"`horizons` holds -3; expected a length of time such as 5y",
		);
	});

	test("rejects a folder without a model", async () => {
		expect(await message(() => loadModel(root))).toContain(
			"is not an export of trajgpt: no export.json",
		);
	});
});
