import { afterAll, expect, test } from "vitest";
import type { Events } from "../model/index.js";
import { expectClose, history, smallModel } from "../model/trajgpt/testing/small-model.js";
import { attributeCodeProbabilities } from "./attribution.js";
import { attributeCodeProbability, codeTrajectories } from "./index.js";

const model = smallModel();
afterAll(() => model.dispose());

const codes = [6, 9];

const probabilityAt = async (own: Events, times: number[]) =>
	(await codeTrajectories(model, [own], [codes], [times]))[0]?.[0]?.probability;

const dropped = ({ tokens, times }: Events, event: number): Events => ({
	tokens: Array.from(tokens).filter((_, i) => i !== event),
	times: Array.from(times).filter((_, i) => i !== event),
});

test("an event's effect is the probability less that of the history without it", async () => {
	const own = history(70, 4);
	const [first, last] = [own.times[0], own.times.at(-1) as number];
	const times = [first - 3, (first + last) / 2, last + 1, last + 60];
	const { base, without, effect } = await attributeCodeProbability(model, own, { codes, times });
	expectClose(base, await probabilityAt(own, times));
	for (const event of [0, 1, 31, 32, 33, 63, 64, 69])
		expectClose(
			without.slice(event * 4, event * 4 + 4),
			await probabilityAt(dropped(own, event), times),
		);
	expect(effect.length).toBe(70 * 4);
	expect(effect[31 * 4 + 2]).toBe(base[2] - without[31 * 4 + 2]);
	// What comes after the query time has no effect on it.
	expect(effect[69 * 4 + 1]).toBe(0);
});

test("birth is not left out, and a lone event leaves an empty history", async () => {
	const born = { tokens: [3, 7], times: [0, 40] };
	const { effect, without } = await attributeCodeProbability(model, born, { codes, times: [50] });
	expect(effect[0]).toBe(0);
	expectClose(without.slice(1), await probabilityAt({ tokens: [3], times: [0] }, [50]));
	const lone = await attributeCodeProbability(
		model,
		{ tokens: [7], times: [40] },
		{ codes, times: [50] },
	);
	expectClose(lone.without, await probabilityAt({ tokens: [], times: [] }, [50]));
	const nothing = await attributeCodeProbability(
		model,
		{ tokens: [], times: [] },
		{ codes, times: [50] },
	);
	expect(nothing.base.length).toBe(1);
	expect(nothing.effect.length).toBe(0);
});

test("several codes are attributed in the passes of one", async () => {
	const own = history(70, 4);
	const times = [(own.times.at(-1) as number) + 1];
	let passes = 0;
	const counting = {
		...model,
		observe: (...args: Parameters<typeof model.observe>) => {
			passes++;
			return model.observe(...args);
		},
		queryWithin: (...args: Parameters<typeof model.queryWithin>) => {
			passes++;
			return model.queryWithin(...args);
		},
	};
	const [one] = await attributeCodeProbabilities(counting, own, { codes: [codes], times });
	const ofOne = passes;
	const all = await attributeCodeProbabilities(counting, own, { codes: [codes, [6], [9]], times });
	expect(passes).toBe(2 * ofOne);
	expect(all[0]).toEqual(one);
	expect(all[1]).toEqual(await attributeCodeProbability(model, own, { codes: [6], times }));
	const sum = all[1]?.effect.map((effect, i) => effect + all[2]?.effect[i]);
	expectClose(sum as Float64Array, all[0]?.effect);
});
