import { afterAll, expect, test } from "vitest";
import { expectClose, smallModel } from "../../../src/model/trajgpt/testing/small-model.js";
import type { History } from "../data/patient.js";
import { type ModelCalls, patientSession } from "./session.js";

const model = smallModel();
afterAll(() => model.dispose());

const calls: ModelCalls = {
	start: async (patients) => model.start(patients),
	observe: model.observe,
	queryWithin: model.queryWithin,
};

const history = (count: number): History => ({
	tokens: Array.from({ length: count }, (_, at) => (at === 0 ? 3 : 5 + ((at * 7) % 6))),
	times: Array.from({ length: count }, (_, at) => (at === 0 ? 0 : 400 + 3 * at)),
	birthEvents: 1,
});

/** Computed from the start, without a session. */
async function whole({ tokens, times }: History, date: number, time: number) {
	const known = times.filter((at) => at < Math.min(time, date)).length;
	const { logProbabilities } = await model.score(
		[{ tokens: tokens.slice(0, known), times: times.slice(0, known) }],
		[[time]],
	);
	return logProbabilities;
}

async function prepared(own: History) {
	const session = patientSession(calls);
	session.use(own);
	while (await session.cacheNextState());
	return session;
}

test("predictions equal those computed from the start, before and after the date", async () => {
	const own = history(40);
	const session = await prepared(own);
	const date = own.times[30]! + 1;
	const times = [own.times[3]!, own.times[12]! + 1.5, date, date + 7, own.times[39]!];
	const predictions = await session.predict(date, times);
	for (const time of times) expectClose(predictions.row(time), await whole(own, date, time));
});

test("an edit recomputes only what follows it", async () => {
	const own = history(60);
	const session = await prepared(own);
	const date = 1000;
	const times = Array.from({ length: 20 }, (_, at) => 410 + at * 30);
	await session.predict(date, times);
	while (await session.cacheNextState());

	const edited: History = {
		...own,
		tokens: own.tokens.toSpliced(52, 1),
		times: own.times.toSpliced(52, 1),
	};
	session.use(edited);
	const predictions = await session.predict(date, times);
	for (const time of times) expectClose(predictions.row(time), await whole(edited, date, time));
	expect(session.lastPass).toEqual({ from: 48, events: 11, times: 15 });

	// Predictions before the edit are cached.
	await session.predict(date, times.slice(0, 5));
	expect(session.lastPass).toBeUndefined();
});

test("another date starts from the cached state before it", async () => {
	const own = history(60);
	const session = await prepared(own);
	const date = own.times[44]!;
	const predictions = await session.predict(date, [date, date + 100]);
	expect(session.lastPass).toEqual({ from: 40, events: 4, times: 2 });
	expectClose(predictions.row(date + 100), await whole(own, date, date + 100));
});

test("edits of a fork do not affect the original session", async () => {
	const own = history(30);
	const session = await prepared(own);
	const fork = session.fork();
	const edited = { ...own, tokens: own.tokens.with(20, 9) };
	fork.use(edited);
	expectClose((await fork.predict(1000, [900])).row(900), await whole(edited, 1000, 900));
	expect(fork.lastPass?.from).toBe(16);
	expectClose((await session.predict(1000, [900])).row(900), await whole(own, 1000, 900));
	expect(session.lastPass?.from).toBe(24);
});

test("a history replaced during a call gets no predictions of the old one", async () => {
	const own = history(20);
	const session = await prepared(own);
	const pending = session.predict(1000, [500]);
	const other = { ...own, tokens: own.tokens.with(3, 6) };
	session.use(other);
	await pending;
	expectClose((await session.predict(1000, [500])).row(500), await whole(other, 1000, 500));
});

test("predictions before the first event do not depend on earlier queries", async () => {
	const own: History = { tokens: [5, 6, 7], times: [140, 150, 160], birthEvents: 0 };
	const predicted = async (dates: readonly number[]) => {
		const session = patientSession(calls);
		session.use(own);
		const rows = [];
		for (const date of dates) rows.push((await session.predict(date, [100, 120])).row(120));
		return rows;
	};
	const [known, hidden] = await predicted([155, 130]);
	const [hiddenFirst, knownLater] = await predicted([130, 155]);
	expectClose(hidden!, hiddenFirst!);
	expectClose(known!, knownLater!);
	expectClose(hidden!, await whole(own, 130, 120));
	expect(known).not.toEqual(hidden);
});

test("predicts for an empty history, and for a birth alone", async () => {
	const session = patientSession(calls);
	expect((await session.predict(10, [12])).row(12)).toHaveLength(model.vocab);
	session.use(history(1));
	const predictions = await session.predict(10, [12]);
	expectClose(predictions.row(12), await whole(history(1), 10, 12));
});

test("a history starts from the cached state after what it has in common, if that is known", async () => {
	const own = history(60);
	const session = await prepared(own);
	const edited = {
		...own,
		tokens: own.tokens.toSpliced(52, 1),
		times: own.times.toSpliced(52, 1),
	};
	const start = session.startFor(edited, 1000);
	expect(start?.events).toBe(48);
	const { logProbabilities } = await model.query(start!.state, [[1000]]);
	const known = { tokens: own.tokens.slice(0, 48), times: own.times.slice(0, 48) };
	expectClose(logProbabilities, (await model.score([known], [[1000]])).logProbabilities);
	expect(session.startFor(edited, own.times[20]!)?.events).toBe(16);
	expect(session.startFor({ ...own, tokens: own.tokens.with(3, 9) }, 1000)).toBeNull();
});
