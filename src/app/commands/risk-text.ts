import { formatDuration } from "../../base/progress.js";
import { simulatedText } from "../../base/simulated.js";
import { thousands } from "../../base/thousands.js";
import type { Token } from "../../data/cohort/vocabulary.js";
import type { Place } from "../../predict/index.js";
import { dayText, spanText } from "../../predict/user-input/index.js";
import type { CodeRisk, Contributions, IndexRisk } from "../workflows/code-risks.js";
import type { CohortRisks } from "../workflows/dataset-risks.js";
import type { RiskResult } from "../workflows/risk.js";
import { ownEvents, phenotypesIn } from "../workflows/risk-documents.js";
import { ageText, patientText } from "./patient-text.js";
import { reasonsText } from "./reasons-text.js";
import { named, shares } from "./risk-words.js";
import { table } from "./table.js";
import type { TextBars } from "./text-bars.js";

const mostRows = 25;
const barWidth = 24;
/** The mark of a row, by where its time lies in the history. */
const marks: Readonly<Record<Place, string>> = {
	before: " no event yet",
	inside: "",
	after: " no new records",
};

export function risksText(result: RiskResult, top: number, bars: TextBars): string {
	const { patient, whatIf } = result.query;
	const parts = [
		`${patientText(patient, result.axis)}\n`,
		...(result.simulated ? [`${simulatedText}\n`] : []),
		...(whatIf ? [`what if: ${whatIf.name}\n`] : []),
		indexTable(result),
		...result.risks.flatMap((risk) =>
			risk.reasons ? [reasonsText(risk.reasons, risk, result)] : [],
		),
	];
	const horizon = spanText(result.query.horizonDays);
	for (const risk of result.risks) {
		const { share } = shares(highestOf(risk));
		parts.push(
			`\nRisk of ${named(risk.code)} over time: probability of ${recordWords(risk)} within ${horizon}, from the records up to each time\n\n`,
			trajectoryTable(risk, result, bars),
			surgesText(risk, result),
			...risk.contributions.map((own) =>
				contributionsText(
					...([own, result, top] as const),
					`${named(risk.code)} within ${horizon}, ${share(own.risk).trim()}`,
				),
			),
		);
	}
	return parts.join("");
}

/** Which record a risk along a history is of. */
function recordWords({ trajectory: { recorded } }: CodeRisk): string {
	const [first, last] = [recorded[0] === 1, recorded.at(-1) === 1];
	return first ? "another record" : last ? "a first record, then of another one" : "a first record";
}

/** The risks after the index day, by horizon. */
function indexTable({ query, risks, groups, samples, runs, axis }: RiskResult): string {
	const { at, horizons, patient } = query;
	const all = risks.flatMap(({ index, whatIfIndex, sameAgeAndSex = [] }) => [
		...(index.highest ?? index.probabilities),
		...(whatIfIndex?.probabilities ?? []),
		...sameAgeAndSex,
	]);
	all.push(...groups.flatMap(({ probabilities }) => probabilities));
	const { share } = shares(Math.max(0, ...all));
	const cells = ({ probabilities, lowest, highest }: IndexRisk) =>
		probabilities.map((mean, i) =>
			lowest && highest
				? `${share(mean)} (${share(lowest[i] as number).trim()} to ${share(highest[i] as number).trim()})`
				: share(mean),
		);
	const when = (time: number) =>
		patient.birth === null
			? dayText(time, axis)
			: `age ${ageText(time, patient.birth)} (${dayText(time, axis)})`;
	const ofAnother = (time: number) =>
		`  already recorded at ${when(time)}: probability of another record`;
	const rows = risks.flatMap(({ code, index, whatIfIndex, sameAgeAndSex }) => [
		...(index.recordedAt === null
			? [[named(code), ...cells(index)]]
			: [
					[named(code), ...horizons.map(() => "")],
					[ofAnother(index.recordedAt), ...cells(index)],
				]),
		...(whatIfIndex
			? [
					[
						`  what if${(whatIfIndex.recordedAt === null) === (index.recordedAt === null) ? "" : whatIfIndex.recordedAt === null ? ", of a first record" : ", of another record"}`,
						...cells(whatIfIndex),
					],
				]
			: []),
		...(sameAgeAndSex
			? [["  people of the same age and sex", ...sameAgeAndSex.map((own) => share(own))]]
			: []),
	]);
	rows.push(
		...groups.map(({ name, recordedAt, probabilities, standardErrors }) => [
			recordedAt === null
				? name
				: `${name}, already recorded at ${when(recordedAt)}: another record`,
			...probabilities.map(
				(own, i) => `${share(own)} ± ${(100 * (standardErrors[i] as number)).toFixed(1)}`,
			),
		]),
	);
	const header = ["", ...horizons.map(({ days }) => `within ${spanText(days)}`)];
	const spread = runs > 1 ? `\nMean of ${runs} runs, and lowest to highest.\n` : "";
	const fromFutures =
		groups.length > 0
			? `\nGroups (${groups.map(({ name }) => name).join(", ")}): the share of ${thousands(samples)} sampled futures with a record of any member, ± standard error.\n`
			: "";
	return `\nProbability of a first record after ${when(at)}, from the records up to that day; death competes:\n\n${table(header, rows)}${spread}${fromFutures}`;
}

const highestOf = ({ trajectory, whatIf }: CodeRisk): number =>
	[...trajectory.risk, ...(whatIf?.risk ?? [])].reduce((a, b) => Math.max(a, b), 0);

/** Evenly spaced indices, and the last. */
function shownRows(count: number): number[] {
	const every = Math.ceil(count / (mostRows - 1));
	const rows = Array.from({ length: Math.ceil(count / every) }, (_, at) => at * every);
	return rows.at(-1) === count - 1 ? rows : [...rows, count - 1];
}

function trajectoryTable(risk: CodeRisk, { query, axis }: RiskResult, bars: TextBars): string {
	const { trajectory, whatIf } = risk;
	const { birth } = query.patient;
	const highest = highestOf(risk);
	const { share, points } = shares(highest);
	const shown = shownRows(trajectory.times.length);
	const rows = shown.map((at, row) => {
		const value = trajectory.risk[at] as number;
		const before = trajectory.risk[shown[row - 1] ?? at] as number;
		const time = trajectory.times[at] as number;
		const other = whatIf?.risk[at];
		return [
			dayText(time, axis),
			...(birth === null ? [] : [ageText(time, birth)]),
			share(value),
			row === 0 ? "" : points(value - before),
			...(other === undefined ? [] : [share(other), points(other - value)]),
			bars.bar(highest > 0 ? value / highest : 0, barWidth).padEnd(barWidth) +
				marks[trajectory.places[at] ?? "inside"] +
				(trajectory.recorded[at] === 1 ? " another record" : ""),
		];
	});
	const header = [
		axis === "dates" ? "date" : "day",
		...(birth === null ? [] : ["age"]),
		"risk",
		"change",
		...(whatIf ? ["what if", "difference"] : []),
		"",
	];
	const all = trajectory.times.length;
	const left =
		shown.length < all ? `\n${shown.length} of ${all} times; --json and --csv have all. ` : "\n";
	return `${table(header, rows)}${left}Changes are in percentage points, since the row above.\n`;
}

function surgesText({ trajectory, code }: CodeRisk, result: RiskResult): string {
	const { axis } = result;
	const { points } = shares(trajectory.risk.reduce((a, b) => Math.max(a, b), 0));
	if (trajectory.surges.length === 0) return `\nNo rise of ${named(code)} stands out.\n`;
	const rows = trajectory.surges.map(({ from, to, growth, events }) => [
		dayText(from, axis),
		dayText(to, axis),
		points(growth),
		phenotypesIn(events, result, named).join(", ") || "nothing",
	]);
	return `\nRises that stand out, and what was recorded then:\n\n${table(["from", "to", "points", "recorded"], rows)}`;
}

function contributionsText(
	{ time, risk, effects }: Contributions,
	result: RiskResult,
	top: number,
	what: string,
): string {
	const { query, axis, vocabulary } = result;
	const { tokens, times, birthEvents } = query.patient.history;
	const { share, points } = shares(risk);
	const effectOf = (index: number) => effects[index] as number;
	const found = ownEvents(result)
		.filter((index) => effectOf(index) !== 0)
		.sort((a, b) => Math.abs(effectOf(b)) - Math.abs(effectOf(a)))
		.slice(0, top);
	const heading = `\nWhat drove the risk at ${dayText(time, axis)} (${what}):`;
	if (found.length === 0) return `${heading} no other event is known then.\n`;
	const rows = found.map((index) => [
		index + 1 - birthEvents,
		dayText(times[index] as number, axis),
		named(vocabulary.tokens[tokens[index] as number] as Token),
		points(effectOf(index)),
		share(risk - effectOf(index)),
	]);
	return `${heading}\n\n${table(["event", axis === "dates" ? "date" : "day", "recorded", "points", "risk without it"], rows)}`;
}

/** The events with the numbers that --remove and --move take. */
export function eventsText(result: RiskResult): string {
	const { query, axis, vocabulary } = result;
	const { tokens, times, birthEvents } = query.patient.history;
	const rows = ownEvents(result).map((index) => [
		index + 1 - birthEvents,
		dayText(times[index] as number, axis),
		named(vocabulary.tokens[tokens[index] as number] as Token),
	]);
	const day = axis === "dates" ? "date" : "day";
	return `\nEvents, by the numbers that --remove and --move take:\n\n${table(["event", day, "recorded"], rows)}`;
}

/** What was written, how fast, and whom it leaves out. */
export function cohortRisksText(scored: CohortRisks): string {
	const { file, patients, codes, seconds, excluded, notAtRisk, simulated } = scored;
	const reasons = (counts: Readonly<Record<string, number>>) =>
		Object.entries(counts)
			.map(([reason, count]) => `${thousands(count)} ${reason}`)
			.join(", ");
	const lines = [
		`${thousands(patients)} patients, ${thousands(codes)} codes in ${formatDuration(seconds)}: ${(patients / seconds).toFixed(1)} patients per second`,
		...(simulated ? [simulatedText] : []),
		...(Object.keys(excluded).length > 0 ? [`without an index day: ${reasons(excluded)}`] : []),
		...(Object.keys(notAtRisk).length > 0
			? [`not at risk on the index day (at_risk is false): ${reasons(notAtRisk)}`]
			: []),
		`written: ${file}`,
	];
	return `${lines.join("\n")}\n`;
}
