import { simulatedText } from "../../base/simulated.js";
import { thousands } from "../../base/thousands.js";
import { durationName } from "../../base/time.js";
import type { NeighbourAgreement } from "../charts/maps/neighbours.js";
import { counted, percent } from "../charts/numbers.js";
import type { Evaluation } from "../evaluation.js";
import {
	calibrationSection,
	conditionSections,
	forecastSection,
	labelledSections,
	onsetSections,
} from "./evaluation-sections.js";
import { furtherFindings, leadingFindings } from "./findings.js";
import {
	figureMarkup,
	html,
	Markup,
	numberCell,
	type Section,
	sectionsMarkup,
	table,
	tableBody,
	tableRow,
} from "./markup.js";
import { futuresOf, measureKind } from "./measures.js";
import type { Finding } from "./onset-findings.js";
import type { HeadInWords, PatientStory, Report } from "./report.js";
import { style } from "./style.js";

/** The report as one HTML file, without scripts and network access. */
export function reportPage(report: Report): string {
	const sections = sectionsOf(report);
	const title = `${report.model.name}: ${report.name}`;
	const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>${new Markup(style)}</style>
</head>
<body>
<a class="skip" href="#findings">To the findings</a>
<header>
<p class="kicker">${report.model.name} · ${report.name}${report.simulated ? html` <span class="simulated">${simulatedText}</span>` : ""}</p>
<h1>${hasOnsets(report) ? "Who gets what, by when?" : "What is recorded next?"}</h1>
<p class="lead">${introduction(report)}</p>
</header>
<main>
${warningsMarkup(report.warnings.filter(isOnOnset))}
${findingsMarkup(report)}
${sectionsMarkup(sections.filter(({ folded }) => !folded))}
${missingMarkup(report)}
${sectionsMarkup([...otherFindings(report), ...sections.filter(({ folded }) => folded)])}
</main>
<footer><p>Made by trajgpt from a run it trained. ${report.model.cite}. Not a medical device.${report.simulated ? ` ${simulatedText.replace(/^s/, "S")}.` : ""}</p></footer>
</body>
</html>
`;
	return page.text;
}

/** Whether first records were measured, the question that otherwise leads the page. */
const hasOnsets = ({ evaluations }: Report) => evaluations.some(({ task }) => task === "onset");

function introduction(report: Report): string {
	const { model, manifest, simulated, split } = report;
	const aim = hasOnsets(report)
		? "who is diagnosed with what, and by when"
		: "which codes are recorded next";
	const { train, [split]: measured } = manifest.counts.splits;
	const whose = simulated ? "simulated people" : "people";
	return (
		`${model.name}, a model with ${counted(model.parameters, "weight")}, was trained on ${counted(train.events, "record")} of ${thousands(train.patients)} ${whose} to predict ${aim}. ` +
		`This page shows how well it does so for ${thousands(measured.patients)} ${whose} it has never seen.`
	);
}

/** Findings that do not lead the page. */
const otherFindings = (report: Report): Section[] => {
	const further = furtherFindings(report);
	return leadingFindings(report).length === 0 || further.length === 0
		? []
		: [
				{
					id: "other-findings",
					title: "Findings on other tasks",
					folded: true,
					body: html`<div class="findings">${findingList(further)}</div>`,
				},
			];
};

function findingsMarkup(report: Report): Markup {
	const [leading, further] = [leadingFindings(report), furtherFindings(report)];
	const first = leading.length > 0 ? leading : further;
	return html`<section class="findings" aria-labelledby="findings">
<h2 id="findings">Key findings</h2>
${
	first.length === 0
		? html`<p>Nothing was measured yet, so there are no findings.</p>`
		: findingList(first, leading.length > 0 ? "cards" : "list")
}
</section>
`;
}

const findingList = (list: readonly Finding[], kind = "list"): Markup => html`<ul class="${kind}">
${list.map(({ value, label, says, isWeak }) => html`<li${isWeak ? html` class="weak"` : ""}><p class="number"><strong>${value}</strong> <span>${label}</span></p><p>${says}</p></li>\n`)}</ul>`;

const isOnOnset = (warning: string) => warning.includes("“onset”");

const warningsMarkup = (warnings: readonly string[]): Markup =>
	warnings.length === 0
		? html``
		: html`<aside aria-label="Before you read on">${warnings.map((warning) => html`<p>${warning}</p>\n`)}</aside>`;

/** Missing and outdated evaluations of other tasks, shown before their numbers. */
function missingMarkup({ missing, warnings }: Report): Markup {
	const others = warnings.filter((warning) => !isOnOnset(warning));
	if (missing.length + others.length === 0) return html``;
	return html`<details class="missing"><summary>Not measured yet, or out of date: ${missing.length + others.length}</summary>
${others.map((warning) => html`<p>${warning}</p>\n`)}${
	missing.length === 0
		? ""
		: html`<p>Not measured yet, with the commands that do it (RUN is the run’s folder):</p>
<ul>${missing.map(({ what, command }) => html`<li>${what}: <code>${command}</code></li>\n`)}</ul>
`
}</details>
`;
}

/** In reading order: first records and limits, on two screens; then, folded, everything else. */
const sectionsOf = (report: Report): readonly Section[] => [
	...onsetSections(report),
	limitsSection(report),
	...[
		...conditionSections(report),
		cohortSection(report),
		forecastSection(report),
		...labelledSections({ ...report, labels: report.summary.labels }),
		...calibrationSection(report),
		...patientsSection(report),
		learnedSection(report),
		...learningSection(report),
		provenanceSection(report),
		readingSection(report),
	].map((section) => ({ ...section, folded: true })),
];

const splitNames = {
	train: "training",
	valid: "validation (choosing the best epoch)",
	test: "test (never seen in training)",
} as const;

function cohortSection({ summary, simulated, figures }: Report): Section {
	const { all, splits, codes } = summary;
	const typical = [
		...(all.records ? [`${thousands(all.records.median)} records`] : []),
		...(all.spanDays ? [`over ${durationName(all.spanDays.median)}`] : []),
	];
	const rows = (["train", "valid", "test"] as const).map((split) => {
		const { patients, events, female, male } = splits[split];
		const women = female + male > 0 ? percent(female / (female + male)) : "–";
		const cells = [thousands(patients), thousands(events), women];
		return tableRow(
			splitNames[split],
			cells.map((value) => numberCell(value)),
		);
	});
	const caption = "Patients and their records";
	return {
		id: "cohort",
		title: "The people",
		body: html`<p>${simulated ? "Simulated" : "Recorded"} histories of ${counted(all.patients, "patient")}: ${counted(all.events, "record")} of ${counted(codes.length, "code")}. ${
			typical.length > 0 ? `Half of the patients have at least ${typical.join(" ")}.` : ""
		}</p>
${table({ name: caption, caption, head: ["used for", "patients", "records", "women"], body: tableBody(rows), compact: true })}
${figureMarkup(figures.dataset)}`,
	};
}

const patientsSection = ({ stories, simulated }: Report): Section[] =>
	stories.patients.length === 0
		? []
		: [
				{
					id: "patients",
					title: stories.patients.length === 1 ? "One patient" : "Single patients",
					body: html`<p>${stories.rule}${simulated ? " They are simulated people." : " They are real records: protect this page like the records."}</p>
${stories.patients.map(storyMarkup)}`,
				},
			];

function storyMarkup(story: PatientStory): Markup {
	const { id, trainedOn, target, later, foreseen, lookUp } = story;
	return html`<h3>${id}: ${target}</h3>
<p>${trainedOn ? "This patient was in the training data, so these predictions are not a test of the model. " : ""}The model was shown ${thousands(lookUp)} records. Of the ${thousands(later)} that came later, ${thousands(foreseen)} (${percent(later > 0 ? foreseen / later : 0)}) were among the ten likeliest at their date.
${riskSentence(story)}</p>
${figureMarkup(story.trajectory)}
${story.riskCurve ? figureMarkup(story.riskCurve) : ""}`;
}

function riskSentence({ target, recorded, risk }: PatientStory): Markup | string {
	if (!risk) return "";
	const change =
		risk.last > 1.2 * risk.first ? "rose" : risk.last < risk.first / 1.2 ? "fell" : "stayed";
	const course =
		change === "stayed"
			? `stayed near ${percent(risk.last)}`
			: `${change} from ${percent(risk.first)} to ${percent(risk.last)}`;
	return html`The predicted probability of a first record of ${target} within ${risk.horizon} ${course} ${recorded ? html`until it was first recorded (${recorded})` : "over the history; it was never recorded"}.`;
}

function learnedSection({ figures, agreement, memory }: Report): Section {
	return {
		id: "learned",
		title: "What the model has learned",
		body: html`<h3>Codes</h3>
${agreement.codes ? codesSentence(agreement.codes) : ""}
${figureMarkup(figures.tokens)}
${figures.patients ? html`<h3>Patients</h3>\n${agreement.patients ? sexesSentence(agreement.patients) : ""}\n${figureMarkup(figures.patients)}` : ""}
${figures.memory && memory ? html`<h3>Memory</h3>\n${memorySentence(memory)}\n${figureMarkup(figures.memory)}` : ""}`,
	};
}

/** States whether agreement is clearly above chance, slightly above, or not. */
function codesSentence({ neighbours, share, byChance }: NeighbourAgreement): Markup {
	const more = share / byChance;
	const said =
		more >= 3
			? `Codes of a category lie together, though no category was ever shown to the model`
			: more > 1.2
				? `Codes of a category lie closer to each other than by chance, though no category was ever shown to the model`
				: `Codes of a category do not lie together: the model has learned other similarities, or few`;
	return html`<p>${said}: of the ${neighbours} codes nearest to a code, ${percent(share)} share its category; of random codes, ${percent(byChance)}.</p>`;
}

const sexesSentence = ({ neighbours, share, byChance }: NeighbourAgreement): Markup =>
	html`<p>Of the ${neighbours} patients nearest to a patient in the model's space, ${percent(share)} have the same sex; of random patients, ${percent(byChance)}.</p>`;

function memorySentence({ shortest, longest, unit }: NonNullable<Report["memory"]>): Markup {
	const inWords = ({ halfLife }: HeadInWords) =>
		!Number.isFinite(halfLife)
			? "never"
			: unit === "days"
				? `within ${durationName(halfLife)}`
				: `within ${thousands(Number(halfLife.toPrecision(2)))} events`;
	const head = ({ layer, head }: HeadInWords) => `head ${head} of layer ${layer}`;
	const wide = longest.halfLife / shortest.halfLife;
	return html`<p>Each head has its own rate of decay, which depends on the last code. ${
		wide > 3
			? "The rates differ widely: some heads have a short memory, others a long one."
			: "The rates are similar."
	} By the median over categories, ${head(shortest)} loses half of its state ${inWords(shortest)}, ${head(longest)} ${inWords(longest)}.</p>`;
}

const learningSection = ({ figures }: Report): Section[] =>
	figures.learning
		? [{ id: "learning", title: "How training went", body: figureMarkup(figures.learning) }]
		: [];

/** What is needed to reproduce the numbers. */
const provenanceSection = ({ provenance }: Report): Section => ({
	id: "made",
	title: "What was run",
	body: html`<div class="facts">
${provenance.map(
	({ title, facts }) => html`<div>
<h3>${title}</h3>
<dl>${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>\n`)}</dl>
</div>
`,
)}</div>`,
});

function limitsSection({ simulated, missing, summary, split }: Report): Section {
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
		body: html`<ul>${limits.map((limit) => html`<li>${limit}</li>\n`)}</ul>`,
	};
}

/** What the oracle predicts in a task, and whether it is an upper bound. */
function oracleReading(evaluation: Evaluation): string[] {
	const { task, rows } = evaluation;
	const oracles = rows.filter(({ who }) => who === "oracle");
	if (oracles.length === 0) return [];
	if (task === "next")
		return [...new Set(oracles.map(({ label }) => nextOracle[isUninformed(label) ? 1 : 0]))];
	const readings: Readonly<Record<string, string>> = {
		onset:
			"For first records it gives the true risk, averaged over sampled futures: its small noise costs it little.",
		forecast: `For records far ahead it predicts from ${futuresOf(evaluation)}: slightly below the best possible.`,
		"chf-paper":
			"For heart failure it gives the true rate of the code at the query time: it ranks patients, but it is not the probability of the label, nor a proven upper bound.",
	};
	return [
		readings[task] ?? `What it predicts in the task “${task}” is stated in the notes of that task.`,
	];
}

const isUninformed = (label: string) => label.includes("unknown");

/** With policies known, and with policies unknown. */
const nextOracle = [
	"For the next record it gives the exact probability, from the records and the insured periods: no model can do better except by chance.",
	"With policies unknown it assumes that everybody is insured from birth on; this is not an upper bound.",
] as const;

/** Explains each measure of the page and the baselines. */
function readingSection({ evaluations }: Report): Section {
	const rows = evaluations.flatMap(({ rows }) => rows);
	const metrics = [...new Set(rows.flatMap(({ metrics }) => Object.keys(metrics)))];
	const hasRow = (label: string) => rows.some((row) => row.label.startsWith(label));
	const measures = metrics.flatMap((metric): Term[] => {
		const { title, term = title.replace(/, .*/, ""), reading } = measureKind(metric);
		return reading === "" ? [] : [[term, reading]];
	});
	const terms = [
		...measures,
		intervalTerm,
		...baselineTerms.filter(([label]) => hasRow(label)),
		...(rows.some(({ who }) => who === "oracle")
			? [
					[
						"reference model",
						`${referenceReading} ${evaluations.flatMap(oracleReading).join(" ")}`,
					] as Term,
				]
			: []),
	];
	return {
		id: "reading",
		title: "How to read the numbers",
		body: html`<dl class="terms">
${[...new Map(terms)].map(([name, says]) => html`<div><dt>${name}</dt><dd>${says}</dd></div>\n`)}</dl>`,
	};
}

type Term = readonly [term: string, reading: string];

const intervalTerm: Term = [
	"95 % interval",
	"From a bootstrap: patients are drawn with replacement many times, and 95 % of the results lie inside. It shows how much depends on the choice of test patients.",
];

/** Baselines, by the beginning of their labels. */
const baselineTerms: readonly Term[] = [
	[
		"age and sex",
		"A baseline without the history: the rate of first records in training, by age and sex.",
	],
	[
		"regression per code",
		"A baseline that a careful analyst would fit: one logistic regression per code and horizon, on age, sex and the counts of all codes.",
	],
	[
		"own history",
		"A baseline without a model: how often the patient already had each code, mixed with the frequency of codes in training.",
	],
	["code frequencies", "A baseline without the history: the frequency of codes in training."],
	["prevalence", "Everybody gets the same probability: the share of cases."],
];

const referenceReading =
	"The rules that the people were simulated by. It does not exist for real people.";
