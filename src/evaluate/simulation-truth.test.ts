import { mkdtempSync, rmSync } from "node:fs";
import { rename } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Dataset, openDataset, prepare, prepareDefaults } from "../data/cohort/index.js";
import { openCsv } from "../data/records/index.js";
import { writeSimulation } from "../data/simulate/index.js";
import { countRanker, oracleRanker, type Ranker, splitHistory } from "./forecast/task.js";
import { countScores, type EventScores, oracleScores } from "./next/scores.js";
import { findSimulationTruth, isSimulated, type SimulationTruth } from "./simulation-truth.js";

const root = mkdtempSync(join(tmpdir(), "trajgpt-truth-"));
afterAll(() => rmSync(root, { recursive: true }));
let dataset: Dataset;
let truth: SimulationTruth;

const prepareTo = async (
	name: string,
	more: Partial<typeof prepareDefaults> = {},
	source = "sim",
) => {
	const folder = join(root, name);
	const options = { ...prepareDefaults, threads: 1, ...more };
	await prepare(await openCsv([join(root, source)]), folder, options);
	return openDataset(folder);
};

beforeAll(async () => {
	await writeSimulation(join(root, "sim"), { patients: 150, seed: 11 });
	await writeSimulation(join(root, "other"), { patients: 150, seed: 12 });
	dataset = await prepareTo("data");
	truth = (await findSimulationTruth(dataset, { split: "test" }))!;
});

describe("findSimulationTruth", () => {
	test("finds each event among the patient's records, although rare codes were dropped", async () => {
		let dropped = 0;
		for (const patient of dataset.patients("test")) {
			const own = await dataset.read(patient);
			const { history, positions } = truth.patient(own);
			expect(positions).toHaveLength(own.tokens.length - own.birthEvents);
			for (const [event, place] of positions.entries()) {
				const at = own.birthEvents + event;
				expect(history.events[place]!.code).toBe(dataset.vocabulary.tokens[own.tokens[at]!]!.code);
				expect(history.events[place]!.day).toBeCloseTo(own.times[at]!, 6);
				if (event > 0) expect(place).toBeGreaterThan(positions[event - 1]!);
			}
			dropped += history.events.length - positions.length;
		}
		expect(dropped).toBeGreaterThan(0);
	});

	test("gives probabilities over the vocabulary that sum to 1", () => {
		const chances = truth.toTokens(new Float64Array(truth.oracle.codes.length).fill(0.1));
		expect(chances.reduce((a, b) => a + b)).toBeCloseTo(1, 12);
		expect([...chances.subarray(0, 5)]).toEqual([0, 0, 0, 0, 0]);
		const none = truth.toTokens(new Float64Array(truth.oracle.codes.length));
		expect(none.reduce((a, b) => a + b)).toBeCloseTo(1, 12);
	});

	test("rejects a given folder with another population", async () => {
		await expect(
			findSimulationTruth(dataset, { split: "test", oracle: join(root, "other") }),
		).rejects.toThrow(
			/other is not the population of .*data: it has no event \d+ of patient p\d+; set the right folder with `oracle`/,
		);
		await expect(findSimulationTruth(dataset, { split: "test", oracle: root })).rejects.toThrow(
			"expected a folder written by simulate",
		);
	});

	test("finds nothing for real data, and gives a reason for data outside the model", async () => {
		const moved = { ...dataset, manifest: { ...dataset.manifest } };
		moved.manifest.source = { ...dataset.manifest.source, path: join(root, "gone") };
		const notes: string[] = [];
		expect(await findSimulationTruth(moved, { split: "test" }, notes)).toBeUndefined();
		expect(notes).toEqual([]);
		const drugs = await prepareTo("drugs", { drugs: "tokens" });
		expect(await findSimulationTruth(drugs, { split: "test" }, notes)).toBeUndefined();
		expect(notes.join()).toContain(
			"no reference model: the reference model predicts PheCodes only",
		);
	});
});

describe("the cumulative incidence", () => {
	const horizons = [365, 1826];
	const options = { futures: 16, seed: 3 };

	test("is that of the dataset's tokens, with drugs and death among them", async () => {
		const drugs = await prepareTo("drugs and death", { drugs: "tokens", deathToken: true });
		const truth = (await findSimulationTruth(drugs, { split: "test" }, [], "incidence"))!;
		const { vocabulary } = drugs;
		const kinds = { PheCode: 0, ATC: 0, Person: 0 };
		for (const patient of drugs.patients("test").subarray(0, 6)) {
			const own = await drugs.read(patient);
			const { history, positions } = truth.patient(own);
			const day = Math.floor((own.times[1]! + own.times.at(-1)!) / 2);
			const { tokens, death } = truth.incidence(own, day, horizons, options);
			expect(tokens).toHaveLength(2 * vocabulary.size);
			expect(truth.incidence(own, day, horizons, options)).toEqual({ tokens, death });
			const seen = new Set<number>();
			for (const [event, position] of positions.entries()) {
				const at = own.birthEvents + event;
				const token = own.tokens[at]!;
				const isCode = vocabulary.tokens[token]!.system === "PheCode";
				expect(position >= 0).toBe(isCode);
				if (isCode) expect(history.events[position]!.day).toBeCloseTo(own.times[at]!, 6);
				if (own.times[at]! <= day) seen.add(token);
			}
			for (const [token, { system, code }] of vocabulary.tokens.entries()) {
				const [one, five] = [tokens[token]!, tokens[vocabulary.size + token]!];
				if (system === null || seen.has(token)) {
					expect([one, five]).toEqual([Number.NaN, Number.NaN]);
					continue;
				}
				if (Number.isNaN(one)) {
					// Recorded, but not kept by the dataset.
					expect(history.events.some((e) => e.code === code && e.day <= day)).toBe(true);
					continue;
				}
				kinds[system as keyof typeof kinds]++;
				expect(five).toBeGreaterThanOrEqual(one);
				if (system === "Person") expect([one, five]).toEqual([...death]);
			}
		}
		expect(kinds.Person).toBe(6);
		expect(kinds.ATC).toBeGreaterThan(60);
		expect(kinds.PheCode).toBeGreaterThan(600);
	});

	test("needs diagnoses as PheCodes", async () => {
		const icd = await prepareTo("icd", { codes: "as-is" });
		await expect(
			findSimulationTruth(icd, { split: "test", oracle: join(root, "sim") }, [], "incidence"),
		).rejects.toThrow("the reference model predicts PheCodes only");
	});
});

describe("the oracle beats the frequency baselines", () => {
	test("at next events", async () => {
		const meansOf = ({ total }: EventScores) => ({
			events: total("events"),
			nats: -total("logLikelihood") / total("events"),
		});
		const scores = await oracleScores(dataset, "test", truth);
		const known = meansOf(scores.known);
		const unknown = meansOf(scores.unknown);
		const counted = meansOf(await countScores(dataset, "test", 8));
		expect(known.events).toBe(counted.events);
		expect(known.nats).toBeLessThan(unknown.nats);
		expect(unknown.nats).toBeLessThan(counted.nats - 0.7);
	});

	test("at later times", async () => {
		const long = dataset
			.patients("test")
			.filter((patient) => dataset.lengthOf(patient) > 60)
			.subarray(0, 8);
		const patients = await Promise.all(
			Array.from(long, (patient) => splitHistory(dataset, patient, 50, 20)),
		);
		const recall = async (ranker: Ranker) => {
			const ranks = (await ranker(patients)).flatMap((own) => [...own]);
			return ranks.filter((rank) => rank < 10).length / ranks.length;
		};
		const best = await recall(oracleRanker(dataset, truth, { futures: 32, seed: 0 }));
		expect(best).toBeGreaterThan(await recall(countRanker(dataset, { ofWindow: true })));
		expect(best).toBeGreaterThan(0.2 + (await recall(countRanker(dataset, { ofWindow: false }))));
	});
});

describe("isSimulated", () => {
	const small = join(root, "small");
	beforeAll(() => writeSimulation(small, { patients: 24, seed: 11 }));

	test.each([
		["usual", {}],
		["with drugs", { drugs: "tokens", deathToken: true }],
		["by month", { dedup: "month" }],
		["with codes as they are", { codes: "as-is" }],
	] as const)("recognises a simulated population, prepared %s", async (name, options) => {
		expect(await isSimulated(await prepareTo(name, options, "small"))).toBe(true);
	});

	test("treats people of another population, or of none, as real", async () => {
		const dataset = await prepareTo("simulated", {}, "small");
		const elsewhere = {
			...dataset,
			manifest: { ...dataset.manifest, source: { ...dataset.manifest.source, path: "gone" } },
		};
		expect(await isSimulated({ ...elsewhere, folder: join(root, "far", "data") })).toBe(false);
		const stranger = dataset.patients("train")[3];
		const mixed = {
			...dataset,
			idOf: (patient: number) => (patient === stranger ? "p999999" : dataset.idOf(patient)),
		};
		expect(await isSimulated(mixed)).toBe(false);
		await rename(small, join(root, "before"));
		await writeSimulation(small, { patients: 24, seed: 12 });
		expect(await isSimulated(dataset)).toBe(false);
		rmSync(small, { recursive: true });
		expect(await isSimulated(dataset)).toBe(false);
	});
});
