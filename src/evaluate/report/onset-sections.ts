import { thousands } from "../../base/thousands.js";
import { yearDays } from "../../base/time.js";
import { spanText } from "../../predict/user-input/moments.js";
import { modelMeasure, onsetCalibrationFigure } from "../charts/calibration-figure.js";
import { counted, percent } from "../charts/numbers.js";
import {
	byFifthFigure,
	type Condition,
	codeScoresFigure,
	decisionFigure,
	decisionReading,
	usefulThresholds,
} from "../charts/onset/condition-figures.js";
import { type OnsetStory, onsetStoriesFigure } from "../charts/onset/stories-figure.js";
import type { Evaluation, OnsetDetails } from "../evaluation.js";
import { pairedMarkup } from "./evaluation-sections.js";
import { surprises } from "./findings.js";
import {
	html,
	type Markup,
	measureNumbers,
	measureRows,
	notesMarkup,
	numberCell,
	type Section,
	table,
	tableRow,
	withFields,
} from "./markup.js";
import { measureKind, shownHorizons } from "./measures.js";
import { subgroupWords } from "./onset-findings.js";
import type { Report } from "./report.js";

export type OnsetEvaluation = Evaluation & { readonly onset: OnsetDetails };

export const onsetOf = (evaluations: readonly Evaluation[]): OnsetEvaluation | undefined =>
	evaluations.find((one): one is OnsetEvaluation => one.onset !== undefined);

const yearsText = (years: number) => counted(years, "year");

/** Of some years, or of all conditions. */
const conditionsWithin = ({ conditions = [] }: OnsetDetails, years: number | undefined) =>
	conditions.filter((one) => years === undefined || one.years === years);

/**
 * How good risks are, and for whom: what a reader needs first. Within some years, or within those that a report shows.
 * Drawings that are not wide have `mostCurves` decision curves.
 */
export function onsetSections(
	evaluation: OnsetEvaluation,
	{ years, mostCurves }: { readonly years?: number; readonly mostCurves?: number } = {},
): Section[] {
	const horizons = years === undefined ? shownHorizons(evaluation.onset) : [years];
	const last = horizons.at(-1) ?? 5;
	const conditions = conditionsWithin(evaluation.onset, years);
	return [
		tableSection(evaluation, horizons),
		calibrationSection(evaluation, horizons),
		subgroupSection(evaluation, last),
		decisionSection(evaluation, last, conditions, mostCurves),
	].map((section) => ({ ...section, half: true }));
}

const metrics = [
	"logLoss",
	"auroc",
	"averagePrecision",
	"observedToExpected",
	"weightedCalibrationError",
];
const metricsWithin = (years: number, suffix = "") =>
	metrics.map((metric) => `${metric} ${years}y${suffix}`);

type CodeCounts = Pick<OnsetDetails["horizons"][number], "years" | "codes" | "allCodes">;

/** The measures of rows within some years, of frequent codes and of all. */
function rowsWithin({ years, codes, allCodes }: CodeCounts, rows: Evaluation["rows"]): Markup {
	const band = (words: string) =>
		html`<tr class="band"><th scope="rowgroup" colspan="${metrics.length + 1}">within ${yearsText(years)}, ${words}</th></tr>`;
	const ofAll = rows.filter((row) => row.metrics[`logLoss ${years}y all`]);
	return html`${band(counted(codes, "frequent code"))}
${measureRows(rows, metricsWithin(years))}
${
	allCodes > codes && ofAll.length > 0
		? html`${band(`all ${counted(allCodes, "code")}, rare ones among them`)}
${measureRows(ofAll, metricsWithin(years, " all"))}`
		: ""
}`;
}

function tableSection(evaluation: OnsetEvaluation, horizons: readonly number[]): Section {
	const { rows, patients, split, draws, notes, onset, comparisons = [] } = evaluation;
	const last = horizons.at(-1) ?? 5;
	const others = horizons.slice(0, -1);
	const within = (years: readonly number[]) =>
		onset.horizons.filter((horizon) => years.includes(horizon.years));
	const tableOf = (name: string, counts: readonly CodeCounts[], measured = rows) =>
		table({
			name,
			caption: `Risk of a first record after one index day per person, death competing: ${counted(patients, "person", "people")} of the ${split} split. Small print: 95 % intervals from ${counted(draws, "bootstrap draw")} over people. Bold: the best value, reference model excluded.`,
			head: ["risk from", ...metrics.map((metric) => measureKind(`${metric} 1y`).title)],
			rows: counts.map((horizon) => rowsWithin(horizon, measured)),
		});
	const comparedWith = (comparison: NonNullable<Evaluation["comparisons"]>[number]) =>
		html`<details class="notes"><summary>Beside predictions of ${comparison.label}, on its codes</summary>
${tableOf(`First records, codes of ${comparison.label}`, comparison.horizons, comparison.rows)}
${comparison.horizons.map(({ years }) => html`<p>Within ${yearsText(years)}:</p>\n${pairedMarkup({ ...evaluation, ...comparison }, `logLoss ${years}y`)}`)}
${notesMarkup(comparison.notes)}</details>`;
	const explained = surprises(evaluation, metricsWithin(last));
	return {
		id: "onset",
		title: "Discrimination",
		blocks: [
			html`${tableOf("First records", within([last]))}
${explained.length > 0 ? html`<ul class="surprises">${explained.map((sentence) => html`<li>${sentence}</li>\n`)}</ul>` : ""}
${others.length > 0 ? html`<details class="notes"><summary>Within ${others.map(yearsText).join(", ")}</summary>\n${tableOf("First records, other horizons", within(others))}</details>` : ""}
${comparisons.map(comparedWith)}
<details class="notes"><summary>How this was measured</summary>
${notesMarkup(notes)}</details>`,
		],
		rows: () => measureNumbers([evaluation]),
	};
}

function calibrationSection(evaluation: OnsetEvaluation, years: readonly number[]): Section {
	const horizons = evaluation.onset.horizons
		.filter((horizon) => years.includes(horizon.years))
		.map((horizon) => ({
			...horizon,
			error: modelMeasure(evaluation, `weightedCalibrationError ${horizon.years}y`),
		}));
	return {
		id: "calibration-of-risks",
		title: "Calibration",
		blocks: [
			{
				id: "onset-calibration",
				caption:
					"On the diagonal, predicted risks come true. Above it they are too low, below it too high.",
				sizes: ["half", "narrow"],
				draw: (size) => onsetCalibrationFigure(horizons, size),
			},
			...horizons.slice(-1).map(recalibrationTable),
		],
		rows: () => horizons.flatMap(({ calibration }) => calibration),
	};
}

/** Slope and intercept of the codes, by row. */
function recalibrationTable({
	years,
	codes,
	recalibration,
}: Pick<OnsetDetails["horizons"][number], "years" | "codes" | "recalibration">): Markup {
	type Spread = (typeof recalibration)[number]["slope"];
	const spread = (one: Spread) =>
		numberCell(
			one
				? `${one.median.toFixed(2)} (${one.lower.toFixed(2)} to ${one.upper.toFixed(2)})`.replaceAll(
						"-",
						"−",
					)
				: "–",
		);
	return table({
		name: "Calibration by code",
		caption: `Within ${yearsText(years)}, ${counted(codes, "frequent code")}: median and quartiles over codes. A slope of 1 and an intercept of 0 are right; a slope below 1 says that risks are too extreme, an intercept above 0 that they are too low.`,
		head: ["risk from", "slope", "intercept"],
		rows: recalibration.map(({ label, slope, intercept }) =>
			tableRow(label, [spread(slope), spread(intercept)]),
		),
	});
}

function subgroupSection(evaluation: OnsetEvaluation, years: number): Section {
	const [model, baseline] = evaluation.rows.map(({ label }) => label);
	const { subgroups } = evaluation.onset;
	const groups = subgroups.filter((group) => group.years === years);
	const rows = groups.map(({ name, patients, codes, rows: scores }) => {
		const [ours, theirs] = [model, baseline].map((label) =>
			scores.find((row) => row.label === label),
		);
		return tableRow(name, [
			numberCell(thousands(patients)),
			numberCell(codes),
			numberCell(ours?.logLoss.toFixed(3) ?? "–"),
			numberCell(theirs?.logLoss.toFixed(3) ?? "–"),
			numberCell(ours?.auroc.toFixed(3) ?? "–"),
			numberCell(ours?.observedToExpected?.toFixed(2) ?? "–"),
		]);
	});
	const measures = ["log loss", `log loss by ${baseline ?? "baseline"}`, "AUROC"];
	return {
		id: "subgroups",
		title: "Subgroups",
		blocks: [
			html`<p>${subgroupWords(evaluation, years)}</p>
${table({
	name: "Subgroups",
	caption: `Within ${yearsText(years)}. Each row has the codes with at least 20 expected first records in that group: compare columns, not rows.`,
	head: ["people", "number", "codes", ...measures, "observed/expected"],
	rows,
})}`,
		],
		rows: () => subgroups.flatMap(({ rows, ...group }) => withFields(group, rows)),
	};
}

/** Net benefit by condition, and of all together. */
function decisionSection(
	{ rows: [model], onset }: OnsetEvaluation,
	years: number,
	conditions: readonly Condition[],
	mostCurves: number | undefined,
): Section {
	const label = model?.label ?? "model";
	const { decisions = [] } = onset.horizons.find((horizon) => horizon.years === years) ?? {};
	const pooled = {
		name: "all conditions together",
		years,
		decisions: decisions.map(({ threshold, model: netBenefit, all }) => ({
			threshold,
			all,
			rows: [{ label, netBenefit }],
		})),
	};
	// The legend is that of the first: a baseline is known only by condition.
	const curves = [...conditions, pooled];
	const useful = usefulThresholds(pooled.decisions);
	return {
		id: "decisions",
		title: "Decision curve",
		blocks: [
			{
				id: "onset-decisions",
				caption: `${decisionReading} “Treat” stands for any action, such as a test.`,
				sizes: ["half", "narrow"],
				draw: (size) =>
					decisionFigure(size === "wide" ? curves : curves.slice(0, mostCurves), size),
			},
			html`<p>All conditions together: ${
				useful
					? `acting on the model does more good than acting on everybody or nobody at thresholds from ${percent(useful[0])} to ${percent(useful[1])}.`
					: "at no measured threshold does acting on the model do more good than acting on everybody or nobody."
			}</p>`,
		],
		rows: () =>
			curves.flatMap(({ name, decisions }) =>
				decisions.flatMap(({ rows, ...point }) => withFields({ condition: name, ...point }, rows)),
			),
	};
}

const conditionRule =
	"heart failure, diabetes, hypertension, ischaemic heart disease, dysrhythmia, mood disorders, COPD, cerebrovascular disease, renal failure, dementia: the first four with enough expected onsets; where none has, the four codes with the most onsets";

/** What happened by predicted risk, and every code: long. */
export function conditionSections({ onset }: OnsetEvaluation, years?: number): Section[] {
	const conditions = conditionsWithin(onset, years);
	const codesWithin = years ?? shownHorizons(onset).at(-1) ?? 5;
	const codes = onset.codes.filter((one) => one.years === codesWithin);
	const fifths: Section = {
		id: "fifths",
		title: "What happened, by predicted risk",
		blocks: [
			{
				id: "onset-by-fifth",
				caption: `The wider the lines fan out, the better the model tells people apart. Conditions: ${conditionRule}.`,
				sizes: ["narrow"],
				draw: (size) => byFifthFigure(conditions, size),
			},
		],
		rows: () =>
			conditions.flatMap(({ name, fifths }) =>
				fifths.map(({ observed, ...fifth }, index) => ({
					condition: name,
					fifth: index + 1,
					...fifth,
					observed: observed.at(-1),
				})),
			),
	};
	const scores: Section = {
		id: "codes",
		title: "Every code",
		blocks: [
			{
				id: "onset-codes",
				caption: `${counted(codes.length, "code")} with at least 20 expected first records within the horizon. Codes are not corrected for how many there are: some intervals miss the truth by chance.`,
				sizes: ["narrow"],
				draw: (size) => codeScoresFigure(codes, codesWithin, size),
			},
		],
		rows: () =>
			codes.flatMap(({ rows, ...code }) =>
				rows.map(({ label, ...measures }) => {
					const values = Object.entries(measures).map(([name, one]) => [name, one?.value]);
					return { ...code, label, ...Object.fromEntries(values) };
				}),
			),
	};
	return [...(conditions.length > 0 ? [fifths] : []), ...(codes.length > 0 ? [scores] : [])];
}

/** Two people before a diagnosis. */
export function beforeSection({ onsetPair: pair, simulated }: Report): Section[] {
	if (!pair) return [];
	const { rule, target, horizonDays, people } = pair;
	const protection = simulated ? "" : " They are real records: protect this page like the records.";
	return [
		{
			id: "before",
			title: "Before the diagnosis: two people",
			blocks: [
				html`<p>Disease: ${target}. ${rule}${protection}</p>
<ul class="people">${people.map((person) => html`<li>${personSentence(person, spanText(horizonDays))}</li>\n`)}</ul>`,
				{
					id: "onset-stories",
					caption:
						"The risk uses only the records up to each day; marks at the bottom are days with records. The line ends on the day before the first record of the disease.",
					sizes: ["narrow"],
					draw: (size) => onsetStoriesFigure(people, { name: target, horizonDays, size }),
				},
			],
		},
	];
}

const sexWords = { female: "a woman", male: "a man" } as const;

function personSentence({ patient, sex, clock, diagnosis, judged }: OnsetStory, horizon: string) {
	const { risk, peers, truth } = judged;
	const recorded =
		clock.birth == null
			? ""
			: `, first recorded at age ${((diagnosis - clock.birth) / yearDays).toFixed(1)}`;
	const ofPeers =
		peers === undefined ? "" : `; people of the same age and sex had ${percent(peers)}`;
	const ofTruth = truth === undefined ? "" : `; the true risk was ${percent(truth)}`;
	return `${patient}${sex ? `, ${sexWords[sex]}` : ""}${recorded}: a year earlier, the model gave a ${horizon.replace(/s$/, "").replace(" ", "-")} risk of ${percent(risk)}${ofPeers}${ofTruth}.`;
}
