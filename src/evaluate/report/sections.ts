import { thousands } from "../../base/thousands.js";
import { durationName } from "../../base/time.js";
import { spanText } from "../../predict/user-input/moments.js";
import { timeName } from "../charts/clock.js";
import { datasetFigure } from "../charts/dataset-figure.js";
import { patientMapFigure, tokenMapFigure } from "../charts/maps/map-figures.js";
import type { NeighbourAgreement } from "../charts/maps/umap.js";
import { extremeHeads, learningCurveFigure } from "../charts/model-figures.js";
import { counted, percent, sentences } from "../charts/numbers.js";
import type { RiskPicture } from "../charts/risk/picture.js";
import { riskFigure } from "../charts/risk/risk-figure.js";
import { trajectoryFigure } from "../charts/trajectory-figure.js";
import type { Evaluation } from "../evaluation.js";
import { memoryFigure } from "./evaluation-sections.js";
import { html, type Markup, numberCell, type Section, table, tableRow } from "./markup.js";
import { futuresOf, measureKind } from "./measures.js";
import type { Report } from "./report.js";

const splitNames = {
	train: "training",
	valid: "validation (choosing the best epoch)",
	test: "test (never seen in training)",
} as const;

export function cohortSection({ summary, simulated }: Report): Section {
	const { all, splits, codes } = summary;
	const typical = sentences(
		all.records && `${thousands(all.records.median)} records`,
		all.spanDays && `over ${durationName(all.spanDays.median)}`,
	);
	const rows = (["train", "valid", "test"] as const).map((split) => {
		const { patients, events, female, male } = splits[split];
		const women = female + male > 0 ? percent(female / (female + male)) : "–";
		return tableRow(splitNames[split], [
			numberCell(thousands(patients)),
			numberCell(thousands(events)),
			numberCell(women),
		]);
	});
	const caption = "Patients and their records";
	const head = ["used for", "patients", "records", "women"];
	const title = simulated ? "The simulated people" : "The people";
	return {
		id: "cohort",
		title: "The people",
		blocks: [
			html`<p>${simulated ? "Simulated" : "Recorded"} histories of ${counted(all.patients, "patient")}: ${counted(all.events, "record")} of ${counted(codes.length, "code")}. ${typical && `Half of the patients have at least ${typical}.`}</p>
${table({ name: caption, caption, head, rows, compact: true })}`,
			{
				id: "dataset",
				caption:
					"The dataset: length and density of histories, codes, and the share of positive labels.",
				draw: () => datasetFigure(summary, { title }),
			},
		],
	};
}

export const patientsSection = ({ stories, simulated }: Report): Section[] =>
	stories.patients.length === 0
		? []
		: [
				{
					id: "patients",
					title: stories.patients.length === 1 ? "One patient" : "Single patients",
					blocks: [
						html`<p>${stories.rule}${simulated ? " They are simulated people." : " They are real records: protect this page like the records."}</p>`,
						...stories.patients.flatMap(storyBlocks),
					],
				},
			];

function storyBlocks(
	{ trainedOn, target, trajectory, risk }: Report["stories"]["patients"][number],
	index: number,
): Section["blocks"] {
	const { patient, lookUp, forecast } = trajectory;
	const foreseen = forecast.filter(({ matched }) => matched).length;
	const recorded = risk?.curves[0]?.recordedAt;
	const until = recorded === undefined ? "" : ", until it was first recorded";
	return [
		html`<h3>${patient}: ${target}</h3>
<p>${trainedOn ? "This patient was in the training data, so these predictions are not a test of the model. " : ""}The model was shown ${thousands(lookUp.length)} records. Of the ${thousands(forecast.length)} that came later, ${thousands(foreseen)} (${percent(forecast.length > 0 ? foreseen / forecast.length : 0)}) were among the ten likeliest at their date.
${risk ? riskSentence(target, risk) : ""}</p>`,
		{
			id: `trajectory-${index + 1}`,
			caption:
				"The records that the model was shown, and which of the later records it predicted: each at its own date, from the records shown alone.",
			draw: () => trajectoryFigure(trajectory),
		},
		...(risk
			? [
					{
						id: `risk-${index + 1}`,
						caption: `The probability of a first record of ${target} within ${spanText(risk.horizonDays)}, from the records up to each day${until}.`,
						draw: () => riskFigure(risk),
					},
				]
			: []),
	];
}

/** The risk at the first time drawn, and at the last: on the day before the target was first recorded. */
function riskSentence(target: string, { curves: [curve], clock, horizonDays }: RiskPicture) {
	if (!curve) return "";
	const { risk, recordedAt } = curve;
	const [first, last] = [risk[0], risk[risk.length - 1]];
	const course =
		last > 1.2 * first || last < first / 1.2
			? `${last > first ? "rose" : "fell"} from ${percent(first)} to ${percent(last)}`
			: `stayed near ${percent(last)}`;
	return `The predicted probability of a first record of ${target} within ${spanText(horizonDays)} ${course} ${recordedAt === undefined ? "over the history; it was never recorded" : `until it was first recorded (${timeName(clock, recordedAt)})`}.`;
}

export function learnedSection({ codes, patientMap, memory, summary }: Report): Section {
	return {
		id: "learned",
		title: "What the model has learned",
		blocks: [
			html`<h3>Codes</h3>
${codes.agreement ? codesSentence(codes.agreement) : ""}`,
			{
				id: "codes",
				caption:
					"Each mark is a code, placed by what training has changed in its embedding, without the change that all codes share. A cross is the decay vector of a head of the first layer, near the codes after which that head remembers longest.",
				draw: () => tokenMapFigure(codes.map),
			},
			...(patientMap ? patientBlocks(patientMap, summary.labels.length > 0) : []),
			...(memory && memory.heads.length > 0
				? [html`<h3>Memory</h3>\n${memorySentence(memory)}`, memoryFigure(memory, memory.patients)]
				: []),
		],
	};
}

const patientBlocks = (
	{ map, of, agreement }: NonNullable<Report["patientMap"]>,
	hasLabels: boolean,
): Section["blocks"] => [
	html`<h3>Patients</h3>\n${agreement ? sexesSentence(agreement) : ""}`,
	{
		id: "patients",
		caption: patientCaption(map.patients.length, of, hasLabels),
		draw: () => patientMapFigure(map),
	},
];

/** The caption of a map that shows some of the test patients, or all. */
export function patientCaption(shown: number, of: number, hasLabels: boolean): string {
	const mark =
		shown < of
			? `Each mark is one of ${thousands(shown)} test patients, drawn at random from ${thousands(of)},`
			: "Each mark is a test patient,";
	return hasLabels
		? `${mark} represented by the history up to the time of the label. Where triangles gather, the model distinguishes cases without having been shown a label.`
		: `${mark} represented by the history up to the last record.`;
}

/** States whether agreement is clearly above chance, slightly above, or not. */
function codesSentence({ neighbours, share, byChance }: NeighbourAgreement): Markup {
	const ratio = share / byChance;
	const closeness = ratio >= 3 ? "together" : "closer to each other than by chance";
	const said =
		ratio > 1.2
			? `Codes of a category lie ${closeness}, though no category was ever shown to the model`
			: "Codes of a category do not lie together: the model has learned other similarities, or few";
	return html`<p>${said}: of the ${neighbours} codes nearest to a code, ${percent(share)} share its category; of random codes, ${percent(byChance)}.</p>`;
}

const sexesSentence = ({ neighbours, share, byChance }: NeighbourAgreement): Markup =>
	html`<p>Of the ${neighbours} patients nearest to a patient in the model's space, ${percent(share)} have the same sex; of random patients, ${percent(byChance)}.</p>`;

function memorySentence({ heads, unit }: NonNullable<Report["memory"]>): Markup {
	const [shortest, longest] = extremeHeads(heads);
	type HeadInWords = typeof shortest;
	const inWords = ({ halfLife }: HeadInWords) => {
		if (!Number.isFinite(halfLife)) return "never";
		return unit === "days"
			? `within ${durationName(halfLife)}`
			: `within ${thousands(Number(halfLife.toPrecision(2)))} events`;
	};
	const head = ({ layer, head }: HeadInWords) => `head ${head} of layer ${layer}`;
	return html`<p>Each head has its own rate of decay, which depends on the last code. ${
		longest.halfLife / shortest.halfLife > 3
			? "The rates differ widely: some heads have a short memory, others a long one."
			: "The rates are similar."
	} By the median over categories, ${head(shortest)} loses half of its state ${inWords(shortest)}, ${head(longest)} ${inWords(longest)}.</p>`;
}

export const learningSection = ({ log }: Report): Section => ({
	id: "learning",
	title: "How training went",
	blocks: [
		{
			id: "learning",
			caption:
				"The loss in nats (mean −log p of the recorded codes) for training and validation patients. This report uses the weights of the best epoch.",
			draw: () => learningCurveFigure(log),
		},
	],
});

export const provenanceSection = ({ provenance }: Report): Section => ({
	id: "made",
	title: "What was run",
	blocks: [
		html`<div class="facts">
${provenance.map(
	({ title, facts }) => html`<div>
<h3>${title}</h3>
${terms(facts)}
</div>
`,
)}</div>`,
	],
});

const terms = (list: Iterable<readonly [name: string, value: string]>, kind?: string): Markup =>
	html`<dl${kind ? html` class="${kind}"` : ""}>${[...list].map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>\n`)}</dl>`;

export function limitsSection({ simulated, missing, summary, split }: Report): Section {
	const limits = [
		"It is not a medical device. Nothing here should guide the care of a person.",
		simulated
			? "The people are simulated: all rates are invented, and the results say nothing about real people. They show what the method can find."
			: "The results hold for people recorded as these were; in another place, time or record system the model must be evaluated again.",
		"A risk is the probability of a first record within a horizon. It is not the probability of having a disease: the record may come late, or never.",
		"Probabilities under “The next record” and “Records far ahead” are another quantity: that of a code, given that something is recorded at that time.",
		"Records show what was coded, not what happened: a code may stand for a suspicion, and what nobody recorded cannot be learned.",
		"An association is not a cause: an event before a rise of a probability need not be its cause.",
		`The intervals show how much depends on the choice of the ${thousands(summary.splits[split].patients)} ${split} patients, not on the seed of the training.`,
		...(missing.length > 0
			? [`Not everything was measured: ${missing.map(({ what }) => what).join("; ")}.`]
			: []),
	];
	return {
		id: "limits",
		title: "Limits",
		blocks: [html`<ul>${limits.map((limit) => html`<li>${limit}</li>\n`)}</ul>`],
	};
}

/** What the oracle predicts in a task, and whether it is an upper bound. */
function oracleReading(evaluation: Evaluation): string {
	const { task, rows } = evaluation;
	const labels = rows.filter(({ who }) => who === "oracle").map(({ label }) => label);
	if (labels.length === 0) return "";
	const isUninformed = (label: string) => label.includes("unknown");
	const readings: Readonly<Record<string, string>> = {
		next: sentences(
			!labels.every(isUninformed) &&
				"For the next record it gives the exact probability, from the records and the insured periods: no model can do better except by chance.",
			labels.some(isUninformed) &&
				"With policies unknown it assumes that everybody is insured from birth on; this is not an upper bound.",
		),
		onset:
			"For first records it gives the true risk, averaged over sampled futures: its small noise costs it little.",
		forecast: `For records far ahead it predicts from ${futuresOf(evaluation)}: slightly below the best possible.`,
		"chf-paper":
			"For heart failure it gives the true rate of the code at the query time: it ranks patients, but it is not the probability of the label, nor a proven upper bound.",
	};
	return (
		readings[task] ?? `What it predicts in the task “${task}” is stated in the notes of that task.`
	);
}

/** Explains each measure of the page and the baselines. */
export function readingSection({ evaluations }: Report): Section {
	const rows = evaluations.flatMap(({ rows }) => rows);
	const measures = rows.flatMap(({ metrics }) => Object.keys(metrics)).map(measureKind);
	const hasRow = (label: string) => rows.some((row) => row.label.startsWith(label));
	const all = new Map([
		...measures
			.filter(({ reading }) => reading !== "")
			.map(({ title, term = title.replace(/, .*/, ""), reading }) => [term, reading] as const),
		interval,
		...baselines.filter(([label]) => hasRow(label)),
	]);
	if (rows.some(({ who }) => who === "oracle"))
		all.set(
			"reference model",
			sentences(
				"The rules that the people were simulated by. It does not exist for real people.",
				...evaluations.map(oracleReading),
			),
		);
	return { id: "reading", title: "How to read the numbers", blocks: [terms(all, "terms")] };
}

type Term = readonly [term: string, reading: string];

const interval: Term = [
	"95 % interval",
	"From a bootstrap: patients are drawn with replacement many times, and 95 % of the results lie inside. It shows how much depends on the choice of test patients.",
];

/** By the beginning of their labels. */
const baselines: readonly Term[] = [
	[
		"age and sex",
		"A baseline without the history: the rate of first records in training, by age and sex.",
	],
	[
		"lasso regression",
		"A baseline that a careful analyst would fit: one Poisson regression per code, on the rates by age and sex and on the records of all codes, of which few matter. TrajGPT starts from it.",
	],
	[
		"ridge regression",
		"A baseline that a careful analyst would fit to labels: a logistic regression on age, sex and the records of all codes.",
	],
	[
		"boosted trees",
		"A baseline that a machine learner would fit: gradient-boosted trees per code, on age, sex and the records of all codes.",
	],
	[
		"own history",
		"A baseline without a model: how often the patient already had each code, mixed with the frequency of codes in training.",
	],
	["code frequencies", "A baseline without the history: the frequency of codes in training."],
	["prevalence", "Everybody gets the same probability: the share of cases."],
];
