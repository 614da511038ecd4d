import { simulatedText } from "../../base/simulated.js";
import { table } from "../../base/table.js";
import { thousands } from "../../base/thousands.js";
import { precisionText, shownEffects, startText } from "../reasons.js";
import type { Place } from "../trajectories.js";
import { dayText, patientText, spanText } from "../user-input/moments.js";
import type { RiskAnswer, RiskReasons } from "./answer.js";
import { counted, type RiskJson, riskJson, timesText } from "./json.js";

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

type CodeJson = RiskJson["risks"][number];
type Moment = RiskJson["index"];
type DayText = (moment: Pick<Moment, "day">) => string;

/** Draws `share` of a width in characters. */
interface TextBars {
	bar(share: number, width: number): string;
}

export function riskText(answer: RiskAnswer, top: number, bars: TextBars): string {
	const { patient, whatIf, axis } = answer.query;
	const report = riskJson(answer);
	const day: DayText = (moment) => dayText(moment.day, axis);
	const horizon = spanText(report.horizonDays);
	const parts = [
		`${patientText(patient, axis)}\n`,
		...(answer.simulated ? [`${simulatedText}\n`] : []),
		...(whatIf ? [`what if: ${whatIf.name}\n`] : []),
		indexTable(report, answer, day),
		...answer.risks.flatMap(({ reasons }, i) =>
			reasons ? [reasonsText(reasons, report.risks[i], answer, day)] : [],
		),
	];
	for (const risk of report.risks) {
		const { share } = shares(highestOf(risk));
		parts.push(
			`\nRisk of ${nameOf(risk)} over time: probability of ${recordWords(risk)} within ${horizon}, from the records up to each time\n\n`,
			trajectoryTable(risk, answer, bars, day),
			surgesText(risk, day),
			...risk.attribution.map((attribution) =>
				attributionText(
					attribution,
					day,
					axis,
					top,
					`${nameOf(risk)} within ${horizon}, ${share(attribution.risk).trim()}`,
				),
			),
		);
	}
	return parts.join("");
}

function recordWords({ points }: CodeJson): string {
	if (points[0]?.recorded) return "another record";
	return points.at(-1)?.recorded ? "a first record, then of another one" : "a first record";
}

const recordWord = (isRecorded: boolean) => (isRecorded ? "another" : "a first");

function indexTable(report: RiskJson, { query, runs }: RiskAnswer, day: DayText): string {
	const { risks, groups = [] } = report;
	const incidences = [
		...risks.flatMap(({ incidence, whatIfIncidence = [] }) => [...incidence, ...whatIfIncidence]),
		...groups.flatMap(({ incidence }) => incidence),
	].map(({ probability, highest = probability }: CodeJson["incidence"][number]) => highest);
	const others = risks.flatMap(({ sameAgeAndSex = [] }) => sameAgeAndSex);
	const { share } = shares(Math.max(0, ...incidences, ...others));
	const cells = (incidence: CodeJson["incidence"]) =>
		incidence.map(({ probability, lowest, highest }) =>
			lowest !== undefined && highest !== undefined
				? `${share(probability)} (${share(lowest).trim()} to ${share(highest).trim()})`
				: share(probability),
		);
	const when = (moment: Moment) =>
		moment.ageYears === null ? day(moment) : `age ${moment.ageYears.toFixed(1)} (${day(moment)})`;
	const rows: string[][] = [];
	for (const { recorded, incidence, whatIfIncidence, whatIfRecorded, ...risk } of risks) {
		const isFirst = recorded === null;
		rows.push([nameOf(risk), ...(isFirst ? cells(incidence) : incidence.map(() => ""))]);
		if (!isFirst) {
			const already = `  already recorded at ${when(recorded)}: probability of another record`;
			rows.push([already, ...cells(incidence)]);
		}
		if (whatIfIncidence) {
			const isSame = (whatIfRecorded === null) === isFirst;
			const of = isSame ? "" : `, of ${recordWord(whatIfRecorded !== null)} record`;
			rows.push([`  what if${of}`, ...cells(whatIfIncidence)]);
		}
		if (risk.sameAgeAndSex)
			rows.push(["  people of the same age and sex", ...risk.sameAgeAndSex.map(share)]);
	}
	for (const { name, recorded, incidence } of groups) {
		const already =
			recorded === null ? "" : `, already recorded at ${when(recorded)}: another record`;
		const cell = ({ probability, standardError }: (typeof incidence)[number]) =>
			`${share(probability)} ± ${(100 * standardError).toFixed(1)}`;
		rows.push([name + already, ...incidence.map(cell)]);
	}
	const header = ["", ...query.horizons.map(({ days }) => `within ${spanText(days)}`)];
	const spread = runs > 1 ? `\nMean of ${runs} runs, and lowest to highest.\n` : "";
	const fromFutures =
		groups.length > 0
			? `\nGroups (${groups.map(({ name }) => name).join(", ")}): the share of ${thousands(report.futures ?? 0)} sampled futures with a record of any member, ± standard error.\n`
			: "";
	return `\nProbability of a first record after ${when(report.index)}, from the records up to that day; death competes:\n\n${table(header, rows)}${spread}${fromFutures}`;
}

const highestOf = ({ points }: CodeJson): number =>
	points.reduce((most, { risk, whatIfRisk = 0 }) => Math.max(most, risk, whatIfRisk), 0);

function shownRows(count: number): number[] {
	const every = Math.ceil(count / (mostRows - 1));
	const rows = Array.from({ length: Math.ceil(count / every) }, (_, row) => row * every);
	return rows.at(-1) === count - 1 ? rows : [...rows, count - 1];
}

function trajectoryTable(
	risk: CodeJson,
	{ query: { axis, patient, whatIf } }: RiskAnswer,
	bars: TextBars,
	day: DayText,
): string {
	const highest = highestOf(risk);
	const { share, points } = shares(highest);
	const count = risk.points.length;
	const shown = shownRows(count).map((at) => risk.points[at]);
	const rows = shown.map((point, row) => {
		const other = point.whatIfRisk;
		return [
			day(point),
			...(point.ageYears === null ? [] : [point.ageYears.toFixed(1)]),
			share(point.risk),
			row === 0 ? "" : points(point.risk - shown[row - 1].risk),
			...(other === undefined ? [] : [share(other), points(other - point.risk)]),
			bars.bar(highest > 0 ? point.risk / highest : 0, barWidth).padEnd(barWidth) +
				marks[point.place] +
				(point.recorded ? " another record" : ""),
		];
	});
	const header = [
		axis === "dates" ? "date" : "day",
		...(patient.birth === null ? [] : ["age"]),
		"risk",
		"change",
		...(whatIf ? ["what if", "difference"] : []),
		"",
	];
	const left =
		shown.length < count
			? `\n${shown.length} of ${count} times; --json and --csv have all. `
			: "\n";
	return `${table(header, rows)}${left}Changes are in percentage points, since the row above.\n`;
}

function surgesText({ surges, points: times, ...code }: CodeJson, day: DayText): string {
	const { points } = shares(times.reduce((most, { risk }) => Math.max(most, risk), 0));
	if (surges.length === 0) return `\nNo rise of ${nameOf(code)} stands out.\n`;
	const rows = surges.map(({ from, to, growth, events }) => [
		day(from),
		day(to),
		points(growth),
		counted(events.map(nameOf)).join(", ") || "nothing",
	]);
	return `\nRises that stand out, and what was recorded then:\n\n${table(["from", "to", "points", "recorded"], rows)}`;
}

function attributionText(
	{ risk, events, ...moment }: CodeJson["attribution"][number],
	day: DayText,
	axis: "dates" | "days",
	top: number,
	of: string,
): string {
	const { share, points } = shares(risk);
	const strongest = events
		.filter(({ effect }) => effect !== 0)
		.sort((a, b) => Math.abs(b.effect) - Math.abs(a.effect))
		.slice(0, top);
	const heading = `\nWhat drove the risk at ${day(moment)} (${of}):`;
	if (strongest.length === 0) return `${heading} no other event is known then.\n`;
	const rows = strongest.map((event) => [
		event.number,
		day(event),
		nameOf(event),
		points(event.effect),
		share(risk - event.effect),
	]);
	return `${heading}\n\n${table(["event", axis === "dates" ? "date" : "day", "recorded", "points", "risk without it"], rows)}`;
}

/** From the start of the reasons to the risk: what the records of each code add or, with edits, each edit. */
function reasonsText(
	reasons: RiskReasons,
	{ recorded, reasons: json, ...code }: CodeJson,
	{ query: { whatIf, patient, at } }: RiskAnswer,
	day: DayText,
): string {
	const { risk, start, listed, others, horizonDays } = reasons;
	const isRecorded = recorded !== null;
	const effects = [...listed, ...(others ? [others] : [])].map(({ effect }) => Math.abs(effect));
	const { digits, share, points } = shares(Math.max(risk, start, ...effects));
	const shown = shownEffects(reasons, digits);
	const change = shown.reduce((sum, effect) => sum + effect, 0);
	const within = `within ${spanText(horizonDays)}`;
	const rows: string[][] = [];
	/** The dates are those of the records; an edit says its own. */
	const add = (name: string, value: string, dates = ["", ""]) =>
		rows.push([...(whatIf ? [] : dates), name, value]);
	const { sex, history } = patient;
	const known = { sex, birthEvents: history.birthEvents, isRecorded };
	add(startText({ ...known, isEdited: whatIf !== undefined }), share(start));
	for (const [i, { records, first, last, ...token }] of json?.codes?.entries() ?? [])
		add(nameOf(token) + timesText(records), points(shown[i]), [
			day(first),
			records > 1 ? day(last) : "",
		]);
	for (const [i, { edit }] of json?.edits?.entries() ?? []) add(edit, points(shown[i]));
	if (others) {
		const { length } = others.parts;
		const name = `${thousands(length)} other ${whatIf ? "edit" : "code"}${length === 1 ? "" : "s"}`;
		add(name + (whatIf ? "" : timesText(others.records)), points(shown[listed.length]));
	}
	add(`change from all ${whatIf ? "edits" : "records"}`, points(change));
	add(`risk ${within}${whatIf ? " after the edits" : ""}`, share(risk));
	const header = whatIf ? ["edit", "points"] : ["first", "last", "recorded", "points"];
	return `\nWhy: what ${whatIf ? "each edit adds" : "the records of each code add"} to the risk of ${recordWord(isRecorded)} record of ${nameOf(code)} ${within} after ${day({ day: at })}, in percentage points\n\n${table(header, rows)}\n${[precisionText(reasons), "The rows show what moves the model's prediction, not what causes a disease."].join(" ").trim()}\n`;
}

export function eventsText(answer: RiskAnswer): string {
	const { axis } = answer.query;
	const rows = riskJson(answer).patient.events.map((event) => [
		event.number,
		dayText(event.day, axis),
		nameOf(event),
	]);
	const day = axis === "dates" ? "date" : "day";
	return `\nEvents, by the numbers that --remove and --move take:\n\n${table(["event", day, "recorded"], rows)}`;
}
