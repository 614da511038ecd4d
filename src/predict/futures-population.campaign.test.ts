import { afterAll, expect, test } from "vitest";
import { random } from "../base/random.js";
import { historiesDataset } from "../data/cohort/testing/histories-dataset.js";
import { nodeRuntime } from "../engine/runtime/node.js";
import { hazardSettings } from "../model/hazards/settings.js";
import { historyWith } from "../model/hazards/testing/histories.js";
import { modelById } from "../model/index.js";
import { smallSettings } from "../model/testing/small-settings.js";
import { startingHazards } from "../model/train/starting-hazards.js";
import { futureModel } from "./futures.js";

const runtime = nodeRuntime({ threads: 1 });
afterAll(async () => runtime.dispose?.());

const vocab = 40;
const [seen, dies] = [1 / 40, 1 / 4000];
const [from, until, index] = [1000, 6000, 2500];

/** The probability that another record follows one on the same day. */
type Further = (token: number) => number;

/** Visits and deaths at constant rates from day 1000 on; most records are of the patient's own three codes. */
function person(id: number, further: Further) {
	const draw = random(7).fork(id);
	const code = () => 5 + draw.integer(vocab - 5);
	const usual = [code(), code(), code()];
	const events: (readonly [number, number])[] = [];
	let death: number | null = null;
	for (let day = from; day < until && death === null; day++) {
		if (draw.uniform() < dies) death = day;
		if (draw.uniform() >= seen) continue;
		const codes = new Set<number>();
		let token: number;
		do {
			token = draw.uniform() < 0.1 ? code() : usual[draw.integer(3)];
			codes.add(token);
		} while (draw.uniform() < further(token));
		events.push(...[...codes].map((token) => [day, token] as const));
	}
	return historyWith(events, {
		id: `p${id}`,
		death,
		observed: [{ start: from, end: death ?? until }],
	});
}

/** What happens after the index day: visits, first records and deaths per year, and codes per visit. */
function ratesOf(
	courses: readonly {
		tokens: ArrayLike<number>;
		times: ArrayLike<number>;
		end: number;
		death: number | null;
		known: ReadonlySet<number>;
	}[],
) {
	const sums = { years: 0, visits: 0, records: 0, onsets: 0, deaths: 0 };
	for (const { tokens, times, end, death, known } of courses) {
		const has = new Set(known);
		const last = Math.min(end, death ?? end);
		sums.years += (last - index) / 365.25;
		if (death !== null && death <= end) sums.deaths++;
		sums.visits += new Set(Array.from(times).filter((time) => time <= last)).size;
		for (let n = 0; n < tokens.length && times[n] <= last; n++) {
			sums.records++;
			if (!has.has(tokens[n])) sums.onsets++;
			has.add(tokens[n]);
		}
	}
	const { years, visits, records, onsets, deaths } = sums;
	return {
		...{ visits: visits / years, codes: records / visits },
		...{ onsets: onsets / years, deaths: deaths / years },
	};
}

/** Limits of the rates' differences. Which codes a patient has is left to the network: regressions see how many. */
const populations: { name: string; further: Further; limits: Limits }[] = [
	{
		name: "records follow each other at one rate",
		further: () => 0.4,
		limits: { visits: 0.06, codes: 0.04, onsets: 0.12 },
	},
	{
		name: "more records follow some codes",
		further: (token) => (token % 2 === 0 ? 0.1 : 0.7),
		limits: { visits: 0.06, codes: 0.04 },
	},
];
type Limits = Partial<ReturnType<typeof ratesOf>>;

test.each(populations)(
	"futures go on as the population did, from the regressions that training starts with: $name",
	async ({ further, limits }) => {
		const people = Array.from({ length: 600 }, (_, id) => person(id, further));
		const settings = hazardSettings.parse({ daysPerLandmark: 400 });
		const model = modelById("trajgpt");
		const config = model.config.parse({ ...smallSettings.trajgpt, vocab, hazards: settings });
		const dataset = historiesDataset(people, vocab);
		const weights = await startingHazards(model.init(config, random(1)), settings, dataset, 1);
		const alive = people.filter(({ death }) => death === null || death > index);
		const known = alive.map(
			({ tokens, times }) => new Set(tokens.filter((token, n) => token >= 5 && times[n] <= index)),
		);
		const observed = ratesOf(
			alive.map(({ tokens, times, death }, i) => {
				const first = times.findIndex((time) => time > index);
				const some = <T extends Int32Array | Float64Array>(all: T) =>
					first < 0 ? [] : Array.from(all).slice(first);
				return {
					...{ tokens: some(tokens), times: some(times) },
					...{ end: index + 730, death, known: known[i] },
				};
			}),
		);
		const futures = futureModel(runtime, { model, config, weights });
		const drawn = await futures.draw(
			alive,
			alive.map(() => index),
			{ days: 730, samples: 3, seed: 3 },
		);
		await futures.dispose();
		const sampled = ratesOf(
			drawn.flatMap((own, i) =>
				own.map((future) => ({ ...future, end: index + 730, known: known[i] })),
			),
		);
		expect(observed.visits).toBeCloseTo(365.25 * seen, 0);
		expect(Math.abs(sampled.deaths / (365.25 * dies) - 1)).toBeLessThan(0.2);
		for (const [rate, limit] of Object.entries(limits) as [keyof Limits, number][]) {
			const ratio = sampled[rate] / observed[rate];
			expect([rate, Math.abs(ratio - 1) < limit ? "as observed" : ratio]).toEqual([
				...[rate, "as observed"],
			]);
		}
	},
);
