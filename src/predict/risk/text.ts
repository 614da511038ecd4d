import { simulatedText } from "../../base/simulated.js";
import { table } from "../../base/table.js";
import { thousands } from "../../base/thousands.js";
import { precisionText, type Reason, shownEffects, startText } from "../reasons.js";
import type { Place } from "../trajectories.js";
import { ageText, dayText, patientText, spanText } from "../user-input/index.js";
import {
	type CodeAnswer,
	type Contributions,
	type IndexRisk,
	type RiskAnswer,
	type RiskReasons,
	recordIndices,
	recordTimes,
} from "./answer.js";
import { namesIn } from "./json.js";

const mostRows = 25;
const barWidth = 24;
/** The mark of a row, by where its time lies in the history. */
const marks: Readonly<Record<Place, string>> = {
	before: " no event yet",
	inside: "",
	after: " no new records",
};

/** Formats risks with as many digits as the highest needs to show three figures. */
function shares(highest: number) {
	const digits = highest >= 0.1 ? 1 : highest >= 0.01 ? 2 : 3;
	return {
		digits,
		share: (risk: number) => `${(100 * risk).toFixed(digits)} %`.padStart(digits + 6),
		points: (change: number) => {
			const text = Math.abs(100 * change).toFixed(digits);
			const sign = Number(text) === 0 ? "" : change > 0 ? "+" : "-";
			return `${sign}${text}`.padStart(digits + 4);
		},
	};
}

const nameOf = ({ code, name }: { readonly code: string; readonly name: string }) =>
	code === name ? code : `${code} ${name}`;

/** Draws `share` of a width in characters. */
interface TextBars {
	bar(share: number, width: number): string;
}

export function riskText(answer: RiskAnswer, top: number, bars: TextBars): string {
	const { patient, whatIf } = answer.query;
	const parts = [
		`${patientText(patient, answer.query.axis)}\n`,
		...(answer.simulated ? [`${simulatedText}\n`] : []),
		...(whatIf ? [`what if: ${whatIf.name}\n`] : []),
		indexTable(answer),
		...answer.risks.flatMap((risk) =>
			risk.reasons ? [reasonsText(risk.reasons, risk, answer)] : [],
		),
	];
	const horizon = spanText(answer.query.horizonDays);
	for (const risk of answer.risks) {
		const { share } = shares(highestOf(risk));
		parts.push(
			`\nRisk of ${nameOf(risk.code)} over time: probability of ${recordWords(risk)} within ${horizon}, from the records up to each time\n\n`,
			trajectoryTable(risk, answer, bars),
			surgesText(risk, answer),
			...risk.contributions.map((contributions) =>
				contributionsText(
					contributions,
					answer,
					top,
					`${nameOf(risk.code)} within ${horizon}, ${share(contributions.risk).trim()}`,
				),
			),
		);
	}
	return parts.join("");
}

/** Which record a risk along a history is of. */
function recordWords({ trajectory: { recorded } }: CodeAnswer): string {
	const [first, last] = [recorded[0] === 1, recorded.at(-1) === 1];
	return first ? "another record" : last ? "a first record, then of another one" : "a first record";
}

/** The risks after the index day, by horizon. */
function indexTable({ query, risks, groups, samples, runs }: RiskAnswer): string {
	const { at, horizons, patient, axis } = query;
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
				? `${share(mean)} (${share(lowest[i]).trim()} to ${share(highest[i]).trim()})`
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
			? [[nameOf(code), ...cells(index)]]
			: [
					[nameOf(code), ...horizons.map(() => "")],
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
			? [["  people of the same age and sex", ...sameAgeAndSex.map((risk) => share(risk))]]
			: []),
	]);
	rows.push(
		...groups.map(({ name, recordedAt, probabilities, standardErrors }) => [
			recordedAt === null
				? name
				: `${name}, already recorded at ${when(recordedAt)}: another record`,
			...probabilities.map((risk, i) => `${share(risk)} ± ${(100 * standardErrors[i]).toFixed(1)}`),
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

const highestOf = ({ trajectory, whatIf }: CodeAnswer): number =>
	[...trajectory.risk, ...(whatIf?.risk ?? [])].reduce((a, b) => Math.max(a, b), 0);

/** Evenly spaced indices, and the last. */
function shownRows(count: number): number[] {
	const every = Math.ceil(count / (mostRows - 1));
	const rows = Array.from({ length: Math.ceil(count / every) }, (_, row) => row * every);
	return rows.at(-1) === count - 1 ? rows : [...rows, count - 1];
}

function trajectoryTable(risk: CodeAnswer, { query }: RiskAnswer, bars: TextBars): string {
	const { trajectory, whatIf } = risk;
	const { axis, patient } = query;
	const { birth } = patient;
	const highest = highestOf(risk);
	const { share, points } = shares(highest);
	const shown = shownRows(trajectory.times.length);
	const rows = shown.map((timeIndex, row) => {
		const value = trajectory.risk[timeIndex];
		const before = trajectory.risk[shown[row - 1] ?? timeIndex];
		const time = trajectory.times[timeIndex];
		const other = whatIf?.risk[timeIndex];
		return [
			dayText(time, axis),
			...(birth === null ? [] : [ageText(time, birth)]),
			share(value),
			row === 0 ? "" : points(value - before),
			...(other === undefined ? [] : [share(other), points(other - value)]),
			bars.bar(highest > 0 ? value / highest : 0, barWidth).padEnd(barWidth) +
				marks[trajectory.places[timeIndex] ?? "inside"] +
				(trajectory.recorded[timeIndex] === 1 ? " another record" : ""),
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

function surgesText({ trajectory, code }: CodeAnswer, answer: RiskAnswer): string {
	const { axis } = answer.query;
	const { points } = shares(trajectory.risk.reduce((a, b) => Math.max(a, b), 0));
	if (trajectory.surges.length === 0) return `\nNo rise of ${nameOf(code)} stands out.\n`;
	const rows = trajectory.surges.map(({ from, to, growth, events }) => [
		dayText(from, axis),
		dayText(to, axis),
		points(growth),
		namesIn(events, answer, nameOf).join(", ") || "nothing",
	]);
	return `\nRises that stand out, and what was recorded then:\n\n${table(["from", "to", "points", "recorded"], rows)}`;
}

function contributionsText(
	{ time, risk, effects }: Contributions,
	answer: RiskAnswer,
	top: number,
	what: string,
): string {
	const { query, vocabulary } = answer;
	const { axis, patient } = query;
	const { tokens, times, birthEvents } = patient.history;
	const { share, points } = shares(risk);
	const effectOf = (index: number) => effects[index];
	const strongest = recordIndices(patient)
		.filter((index) => effectOf(index) !== 0)
		.sort((a, b) => Math.abs(effectOf(b)) - Math.abs(effectOf(a)))
		.slice(0, top);
	const heading = `\nWhat drove the risk at ${dayText(time, axis)} (${what}):`;
	if (strongest.length === 0) return `${heading} no other event is known then.\n`;
	const rows = strongest.map((index) => [
		index + 1 - birthEvents,
		dayText(times[index], axis),
		nameOf(vocabulary.tokens[tokens[index]]),
		points(effectOf(index)),
		share(risk - effectOf(index)),
	]);
	return `${heading}\n\n${table(["event", axis === "dates" ? "date" : "day", "recorded", "points", "risk without it"], rows)}`;
}

/** From the start of the reasons to the risk: what the records of each code add or, with edits, each edit. */
function reasonsText(
	reasons: RiskReasons,
	{ code, index }: CodeAnswer,
	{ query, vocabulary }: RiskAnswer,
): string {
	const { risk, start, listed, others, horizonDays } = reasons;
	const { whatIf, patient, axis } = query;
	const isRecorded = index.recordedAt !== null;
	const effects = [...listed, ...(others ? [others] : [])].map(({ effect }) => Math.abs(effect));
	const { digits, share, points } = shares(Math.max(risk, start, ...effects));
	const shown = shownEffects(reasons, digits);
	const change = shown.reduce((sum, effect) => sum + effect, 0);
	const times = (count: number) => (count > 1 ? ` ×${count}` : "");
	const othersText = (count: number) =>
		`${thousands(count)} other ${whatIf ? "edit" : "code"}${count === 1 ? "" : "s"}`;
	const day = (time: number) => dayText(time, axis);
	const within = `within ${spanText(horizonDays)}`;
	/** The dates are those of the records; an edit says its own. */
	const row = (name: string, value: string, dates = ["", ""]) => [
		...(whatIf ? [] : dates),
		name,
		value,
	];
	const listedRow = ({ parts: [part = 0], records }: Reason, i: number) => {
		const added = points(shown[i]);
		if (whatIf) return row(whatIf.names[part], added);
		const { first, last } = recordTimes(part, query);
		const name = `${nameOf(vocabulary.tokens[part])}${times(records)}`;
		return row(name, added, [day(first), records > 1 ? day(last) : ""]);
	};
	const rows = [
		row(
			startText({
				sex: patient.sex,
				birthEvents: patient.history.birthEvents,
				isRecorded,
				isEdited: whatIf !== undefined,
			}),
			share(start),
		),
		...listed.map(listedRow),
		...(others
			? [
					row(
						`${othersText(others.parts.length)}${whatIf ? "" : times(others.records)}`,
						points(shown[listed.length]),
					),
				]
			: []),
		row(`change from all ${whatIf ? "edits" : "records"}`, points(change)),
		row(`risk ${within}${whatIf ? " after the edits" : ""}`, share(risk)),
	];
	const header = whatIf ? ["edit", "points"] : ["first", "last", "recorded", "points"];
	return `\nWhy: what ${whatIf ? "each edit adds" : "the records of each code add"} to the risk of ${isRecorded ? "another" : "a first"} record of ${nameOf(code)} ${within} after ${day(query.at)}, in percentage points\n\n${table(header, rows)}\n${[precisionText(reasons), "The rows show what moves the model's prediction, not what causes a disease."].join(" ").trim()}\n`;
}

/** The events with the numbers that --remove and --move take. */
export function eventsText(answer: RiskAnswer): string {
	const { query, vocabulary } = answer;
	const { axis, patient } = query;
	const { tokens, times, birthEvents } = patient.history;
	const rows = recordIndices(patient).map((index) => [
		index + 1 - birthEvents,
		dayText(times[index], axis),
		nameOf(vocabulary.tokens[tokens[index]]),
	]);
	const day = axis === "dates" ? "date" : "day";
	return `\nEvents, by the numbers that --remove and --move take:\n\n${table(["event", day, "recorded"], rows)}`;
}
