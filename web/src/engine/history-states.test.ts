import { afterAll, expect, test, vi } from "vitest";
import { expectClose, smallModel } from "../../../src/model/trajgpt/testing/small-model.js";
import type { History } from "../data/patient.js";
import { historyStates } from "./history-states.js";

const model = smallModel();
afterAll(() => model.dispose());

const history = (count: number): History => ({
	tokens: Array.from({ length: count }, (_, at) => (at === 0 ? 3 : 5 + ((at * 7) % 6))),
	times: Array.from({ length: count }, (_, at) => (at === 0 ? 0 : 400 + 3 * at)),
	birthEvents: 1,
});
const unedited = history(60);
const edited: History = {
	...unedited,
	tokens: unedited.tokens.toSpliced(52, 1),
	times: unedited.times.toSpliced(52, 1),
};

async function filled(...histories: readonly History[]) {
	const observe = vi.fn(model.observe);
	const states = historyStates({ start: async (patients) => model.start(patients), observe });
	await states.fill(histories, new AbortController().signal);
	return { states, observe };
}

test("a history starts from the state after what it has in common, if that is known on the date", async () => {
	const { states } = await filled(unedited);
	const start = states.startFor({ history: edited, date: 1000 });
	expect(start?.events).toBe(48);
	const { logProbabilities } = await model.query(start!.state, [[1000]]);
	const known = { tokens: unedited.tokens.slice(0, 48), times: unedited.times.slice(0, 48) };
	expectClose(logProbabilities, (await model.score([known], [[1000]])).logProbabilities);
	expect(states.startFor({ history: edited, date: unedited.times[20]! })?.events).toBe(16);
	const other = { ...unedited, tokens: unedited.tokens.with(3, 9) };
	expect(states.startFor({ history: other, date: 1000 })).toBeNull();
	expect(states.startFor({ history: { ...unedited, tokens: [], times: [] }, date: 9 })).toBeNull();
});

test("an edited history adds only the states after the edit, and those of a former one are forgotten", async () => {
	const { states, observe } = await filled(unedited, edited);
	expect(observe).toHaveBeenCalledTimes(7 + 1);
	const { signal } = new AbortController();
	await states.fill([unedited, edited], signal);
	expect(observe).toHaveBeenCalledTimes(8);
	expect(states.startFor({ history: edited, date: 1000 })?.events).toBe(56);
	await states.fill([unedited], signal);
	expect(states.startFor({ history: edited, date: 1000 })?.events).toBe(48);
});

test("long histories have at most 96 states, and an aborted filling ends", async () => {
	const { observe } = await filled(history(97 * 8));
	expect(observe).toHaveBeenCalledTimes(48);
	const states = historyStates({ start: async (patients) => model.start(patients), observe });
	await states.fill([unedited], AbortSignal.abort());
	expect(observe).toHaveBeenCalledTimes(48);
});
