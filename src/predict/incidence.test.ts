import { describe, expect, test } from "vitest";
import { binsOf, hazardSettings, outputsOf, visitBinsOf } from "../model/hazards/settings.js";
import type { Events } from "../model/index.js";
import { type HazardSource, hazardsIn } from "./hazards.js";
import {
	attributeIncidence,
	cutHorizons,
	incidenceReader,
	incidences,
	incidenceTrajectories,
	independenceNotes,
	outputsFor,
} from "./incidence.js";

const vocab = 10;
const settings = hazardSettings.parse({ groups: [{ name: "two", tokens: [7, 8] }] });
const { count, death } = outputsOf(settings, vocab);
const width = settings.binDays.length * count + visitBinsOf(settings).to.length;

/** Hazards that depend on the history alone: every record up to the day doubles that of token 9. */
const source: HazardSource = {
	...{ settings, vocab, longestDays: binsOf(settings).to.at(-1) as number },
	async at(histories, days) {
		const perHistory = days[0]?.length ?? 0;
		const rows = new Float32Array(histories.length * perHistory * width);
		for (const [i, { times }] of histories.entries())
			for (const [k, day] of Array.from(days[i] ?? []).entries()) {
				const from = (i * perHistory + k) * width;
				const known = Array.from(times).filter((time) => Math.floor(time) <= day).length;
				for (let bin = 0; bin < settings.binDays.length; bin++)
					for (let output = 0; output < count; output++)
						rows[from + bin * count + output] =
							output === death
								? -30
								: Math.log(1e-5 * output) + (output === 9 ? known * Math.log(2) : 0);
			}
		return hazardsIn(settings, vocab, rows);
	},
};

const history: Events = { tokens: [3, 5, 6, 7], times: [0, 100.5, 200, 300] };
const after = (rate: number, days: number) => 1 - Math.exp(-rate * days);

describe("the risk of a code", () => {
	test("is that of its output; of a group, that of the group; of other sets, of independent members", async () => {
		const codes = [[5], [8, 7], [5, 6]];
		const [found = []] = await incidences(source, [history], codes, [[99]], [365, 1826]);
		expect(codes.map((tokens) => outputsFor(source, tokens))).toEqual([[5], [vocab], [5, 6]]);
		expect(found[0]?.probabilities[1]).toBeCloseTo(after(5e-5, 1826), 6);
		expect(found[1]?.probabilities[0]).toBeCloseTo(after(1e-5 * vocab, 365), 6);
		expect(found[2]?.probabilities[0]).toBeCloseTo(after(11e-5, 365), 6);
	});

	test("is that of another record from the day of the first", async () => {
		const [[own] = []] = await incidences(source, [history], [[5]], [[99, 100, 101]], [365]);
		expect([...(own?.recordedAt ?? [])]).toEqual([null, 100.5, 100.5]);
	});

	test("within a horizon beyond the last bin is refused", async () => {
		await expect(incidences(source, [history], [[5]], [[99]], [4000])).rejects.toThrow(
			"the horizon is 4000 days; expected more than 0 and at most 3652",
		);
	});
});

test("horizons are cut to what was learned; less than a day more needs no warning", () => {
	expect(cutHorizons(source, [365, 3652.5])).toEqual({ days: [365, 3652], warnings: [] });
	expect(cutHorizons(source, [7305])).toEqual({
		days: [3652],
		warnings: [
			"the model has learned risks up to 10 years ahead; 20 years are answered as 10 years",
		],
	});
});

test("sets without an output of their own are noted", () => {
	const notes = independenceNotes(source, [
		{ code: "one", tokens: [5] },
		{ code: "two", tokens: [7, 8] },
		{ code: "more", tokens: [5, 6, 7] },
	]);
	expect(notes).toEqual([
		expect.stringMatching(/^more: the model predicts its 3 codes one by one/),
	]);
});

test("a trajectory breaks where the code is recorded, and a rise has the records of its last day", async () => {
	const times = Array.from({ length: 40 }, (_, i) => 10 * i);
	const [[nine, seven] = []] = await incidenceTrajectories(
		incidenceReader(source),
		[history],
		[[9], [7]],
		[times],
		1826,
	);
	expect(nine?.surges.map(({ from, to, events }) => [from, to, events])).toEqual([
		[90, 100, [1]],
		[190, 200, [2]],
		[290, 300, [3]],
	]);
	expect(nine?.recorded.includes(1)).toBe(false);
	expect(seven?.recorded.indexOf(1)).toBe(30);
	expect(seven?.growth[30]).toBe(0);
});

test("attribution leaves out each record, but neither the birth nor those of the code itself", async () => {
	const query = { risks: [[9], [5]], days: [250], horizonDays: 365 };
	const [nine, five] = await attributeIncidence(incidenceReader(source), history, query);
	const full = after(9e-5 * 2 ** 3, 365);
	expect(nine?.base[0]).toBeCloseTo(full, 6);
	const left = full - after(9e-5 * 2 ** 2, 365);
	expect([...(nine?.effect ?? [])]).toEqual([
		...[0, expect.closeTo(left, 6), expect.closeTo(left, 6), 0],
	]);
	expect([...(five?.effect ?? [])]).toEqual([0, 0, 0, 0]);
});
