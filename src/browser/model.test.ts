import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { InputError } from "../base/errors.js";
import { captured } from "../cli/testing/captured.js";
import { clinicRun } from "../cli/testing/clinic-run.js";
import { specialTokens } from "../cohort/vocabulary.js";
import { readExport } from "../export/read-export.js";
import { answersAt, attribute, representations, riskTrajectories, whatIf } from "../infer/index.js";
import type { Predictor } from "../models/index.js";
import { nodeRuntime } from "../runtime/node.js";
import { webRuntime } from "../runtime/web.js";
import { readTrained, type Trained } from "../train/index.js";
import { type Calls, callsThrough, running } from "./calls.js";
import { type BrowserModel, modelOver } from "./model.js";

const runtime = nodeRuntime({ threads: 1, purpose: "inference" });
let root: string;
let trained: Trained;
let predictor: Predictor;
let model: BrowserModel;
let dispose: () => Promise<void>;

type CallWith = (...args: readonly unknown[]) => Promise<unknown>;

/** An export opened as the worker opens it, without the worker. */
beforeAll(async () => {
	const made = await clinicRun();
	root = made.root;
	const out = join(root, "export");
	await captured(["export", made.run, "--out", out]);
	trained = readTrained(made.run);
	predictor = trained.model.predictor(runtime, trained.config, trained.weights);
	const exported = await readExport(out, (name) => readFile(join(out, name)));
	const own = running(await webRuntime({ threads: 1 }), "wasm", exported);
	const cloned = callsThrough((method, args) =>
		(own.calls[method as keyof Calls] as CallWith)(...structuredClone(args)),
	);
	model = modelOver(own.opened, cloned, () => {});
	dispose = own.dispose;
}, 60_000);
afterAll(async () => {
	await dispose();
	await predictor.dispose();
	await rm(root, { recursive: true });
});

const person = {
	sex: "female",
	birth: "1950-06-01",
	events: [
		{ code: "250", date: "2011-09-15" },
		{ code: "401", date: "2010-03-01" },
		{ code: "272", date: "2012-02-20" },
	],
} as const;

const apart = (a: ArrayLike<number>, b: ArrayLike<number>) => {
	expect(a.length).toBe(b.length);
	return Array.from(a).reduce((most, x, i) => Math.max(most, Math.abs(x - (b[i] as number))), 0);
};

test("a person is a history, in order of time, birth first", () => {
	const { tokens, times } = model.history(person);
	const find = (code: string) => trained.vocabulary.find(code);
	expect(Array.from(tokens)).toEqual([specialTokens.female, find("401"), find("250"), find("272")]);
	expect(times[1]).toBe(Date.parse("2010-03-01") / 86_400_000);
});

describe("answers are those of Node", () => {
	const times = () => ["2009-01-01", "2011-12-31", "2014-06-01"].map((date) => model.time(date));

	test("at any times", async () => {
		const history = model.history(person);
		const mine = await model.answers([history], [times()]);
		const nodes = await answersAt(predictor, [history], [times()]);
		expect(apart(mine.logProbabilities, nodes.logProbabilities)).toBeLessThan(1e-4);
		expect(mine.places).toEqual(nodes.places);
		const [first] = model.likeliest(mine, 1, 0, 2);
		const row = nodes.logProbabilities.subarray(2 * nodes.vocab).subarray(5);
		expect(first?.probability).toBeCloseTo(Math.exp(Math.max(...row)), 4);
		expect(trained.vocabulary.tokens[first?.token as number]).toMatchObject({
			code: first?.code,
			name: first?.name,
		});
	});

	test("event by event", async () => {
		const { tokens, times: observed } = model.history(person);
		let state = await model.start();
		for (let n = 0; n < tokens.length; n++)
			state = await model.observe(state, [
				{ tokens: [tokens[n] as number], times: [observed[n] as number] },
			]);
		const asked = [[model.time("2014-06-01")]];
		const mine = await model.ask(state, asked);
		const nodes = await predictor.score([{ tokens, times: observed }], asked);
		expect(apart(mine.logProbabilities, nodes.logProbabilities)).toBeLessThan(1e-4);
	});

	test("risk, attribution, what if, vectors", async () => {
		const history = model.history(person);
		const code = model.tokens("428");
		const [[mine]] = (await model.risk([history], ["428"], [times()])) as [[never]];
		const [[nodes]] = (await riskTrajectories(predictor, [history], [code], [times()])) as [
			[never],
		];
		const risk = (one: { risk: Float64Array }) => one.risk;
		expect(apart(risk(mine), risk(nodes))).toBeLessThan(1e-4);

		const question = { codes: code, times: times() };
		const drivers = await model.attribute(history, { code: "428", times: times() });
		const driversThere = await attribute(predictor, history, question);
		expect(apart(drivers.effect, driversThere.effect)).toBeLessThan(1e-4);

		const edits = [{ add: { token: code[0] as number, time: model.time("2012-03-01") } }];
		const what = await model.whatIf(history, edits, times());
		const whatThere = await whatIf(predictor, history, edits, times());
		expect(apart(what.after.logProbabilities, whatThere.after.logProbabilities)).toBeLessThan(1e-4);
		expect(what.history).toEqual(whatThere.history);

		const vectors = await model.represent([history]);
		expect(apart(vectors, await representations(runtime, trained, [history]))).toBeLessThan(1e-4);
	});
});

describe("what is wrong is said in words", () => {
	const message = (work: () => unknown) => {
		try {
			work();
		} catch (error) {
			return error instanceof InputError ? error.message : `not an InputError: ${error}`;
		}
		return "nothing was wrong";
	};

	test("an unknown code, with those that are near", () => {
		const unknown = (code: string) =>
			message(() => model.history({ events: [{ code, date: "2010-01-01" }] }));
		expect(unknown("asthma")).toBe(
			'the model has no code "asthma"; near it are 495 Asthma; expected one of its 30 codes',
		);
		expect(unknown("409")).toContain('the model has no code "409"; near it are 401 Hypertension');
		expect(unknown("")).toContain('the model has no code ""; expected one of its 30 codes');
		expect(message(() => model.tokens("[SOS]"))).toContain('the model has no code "[SOS]"');
	});

	test("a date that is none", () => {
		expect(message(() => model.time("2010-02-30"))).toBe(
			'"2010-02-30" is no date; expected one like 2012-06-30',
		);
		expect(message(() => model.time(Number.NaN))).toContain("NaN is no day");
	});

	test("an event before the birth", () => {
		expect(
			message(() =>
				model.history({ birth: "2000-01-01", events: [{ code: "401", date: "1999-12-31" }] }),
			),
		).toBe("an event comes before the birth, 2000-01-01; correct one of the dates");
	});

	test("a code the risk is asked of", async () => {
		await expect(model.risk([model.history(person)], ["nope"], [[500]])).rejects.toThrow(
			'the model has no code "nope"',
		);
	});
});
