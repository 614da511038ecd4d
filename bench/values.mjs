// The next code with and without values as tokens, on the same targets: the ranges of values are summed, and events
// that only one of the two datasets has do not count.
//
//     node bench/values.mjs DATASET DATASET_WITH_VALUES RUN:RUN_WITH_VALUES [RUN:RUN_WITH_VALUES ...]
//
// Prints means over the pairs of runs (seeds), with 95 % intervals of the test patients.
import { openDataset } from "../dist/data/cohort/index.js";
import { codeKey } from "../dist/data/cohort/vocabulary.js";
import { nodeRuntime } from "../dist/engine/runtime/node.js";
import { bootstrap, ratioOf } from "../dist/evaluate/bootstrap.js";
import { isPredicted } from "../dist/evaluate/next/scores.js";
import { nextEventScores } from "../dist/evaluate/next/task.js";
import { readTrained } from "../dist/model/train/index.js";

const [plainFolder, valuedFolder, ...pairs] = process.argv.slice(2);
const datasets = [await openDataset(plainFolder), await openDataset(valuedFolder)];
const runtime = nodeRuntime({ threads: 1, purpose: "inference" });

/** By patient: the predicted events as texts, and log p and rank of the code of each. */
async function scoresOf(dataset, run) {
	const scores = new Map();
	for (const patient of dataset.patients("test")) {
		const { tokens, times } = await dataset.read(patient);
		const events = [...tokens].flatMap((token, at) =>
			isPredicted(token, at) ? [`${times[at]} ${codeKey(dataset.vocabulary.tokens[token])}`] : [],
		);
		scores.set(dataset.idOf(patient), { events, logs: [], ranks: [] });
	}
	const take = (number, logProbabilities, code, rank) => {
		const { logs, ranks } = scores.get(dataset.idOf(dataset.patients("test")[number]));
		logs.push(logProbabilities[code]);
		ranks.push(rank);
	};
	await nextEventScores(runtime, readTrained(run), dataset, "test", take);
	return scores;
}

const ids = [...datasets[0].patients("test")].map((patient) => datasets[0].idOf(patient));
const names = ["nats", "recall@10"];
const sums = names.map(() => [new Float64Array(ids.length), new Float64Array(ids.length)]);
const events = new Float64Array(ids.length);
for (const pair of pairs) {
	const runs = pair.split(":");
	const scoresOfPair = [];
	for (const [i, dataset] of datasets.entries())
		scoresOfPair.push(await scoresOf(dataset, runs[i]));
	for (const [at, id] of ids.entries()) {
		const [plain, valued] = scoresOfPair.map((scores) => scores.get(id));
		for (let i = 0, j = 0; i < plain.events.length; i++) {
			if (plain.events[i] !== valued.events[j]) continue;
			events[at]++;
			const add = (side, { logs, ranks }, event) => {
				sums[0][side][at] -= logs[event];
				sums[1][side][at] += Number(ranks[event] < 10);
			};
			add(0, plain, i);
			add(1, valued, j++);
		}
	}
}
const statistics = Object.fromEntries(
	names.flatMap((name, m) => {
		const [plain, valued] = sums[m];
		const difference = plain.map((sum, at) => valued[at] - sum);
		return Object.entries({ without: plain, with: valued, difference }).map(([what, parts]) => [
			`${name} ${what}`,
			ratioOf(parts, events),
		]);
	}),
);
const measured = bootstrap(ids.length, statistics, { draws: 2000, seed: 0 });
const total = events.reduce((sum, n) => sum + n, 0) / pairs.length;
console.log(`${ids.length} patients, ${total} events, ${pairs.length} pairs of runs`);
for (const [name, { value, low, high }] of Object.entries(measured))
	console.log(`${name}: ${value.toFixed(4)} [${low.toFixed(4)}, ${high.toFixed(4)}]`);
