import { thousands } from "../../base/thousands.js";
import { durationName } from "../../base/time.js";
import type { NeighbourAgreement } from "../charts/maps/neighbours.js";
import { counted, percent } from "../charts/numbers.js";
import type { Evaluation } from "../evaluation.js";
import { calibrationSection, forecastSection, labelledSections } from "./evaluation-sections.js";
import { figureMarkup, html, type Markup, type Section } from "./markup.js";
import { futuresOf, measureKind } from "./measures.js";
import { conditionSections, onsetSections } from "./onset-sections.js";
import type { HeadInWords, PatientStory, Report } from "./report.js";

/** In reading order: first records and limits, on two screens; then, folded, everything else. */
export const sectionsOf = (report: Report): readonly Section[] => [
	...onsetSections(report),
	limitsSection(report),
	...[
		...conditionSections(report),
		cohortSection(report),
		forecastSection(report),
		...labelledSections(report),
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
	const caption = "Patients and their records";
	return {
		id: "cohort",
		title: "The people",
		body: html`<p>${simulated ? "Simulated" : "Recorded"} histories of ${counted(all.patients, "patient")}: ${counted(all.events, "record")} of ${counted(codes.length, "code")}. ${
			typical.length > 0 ? `Half of the patients have at least ${typical.join(" ")}.` : ""
		}</p>
<div class="scrolling"><table>
<caption>${caption}</caption>
<thead><tr><th scope="col">used for</th><th scope="col" class="number">patients</th><th scope="col" class="number">records</th><th scope="col" class="number">women</th></tr></thead>
<tbody>
${(["train", "valid", "test"] as const).map((split) => {
	const { patients, events, female, male } = splits[split];
	return html`<tr><th scope="row">${splitNames[split]}</th><td class="number">${thousands(patients)}</td><td class="number">${thousands(events)}</td><td class="number">${female + male > 0 ? percent(female / (female + male)) : "–"}</td></tr>\n`;
})}</tbody>
</table></div>
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
	if (task === "onset")
		return [
			"For first records it gives the true risk, averaged over sampled futures: its small noise costs it little.",
		];
	if (task === "forecast")
		return [
			`For records far ahead it predicts from ${futuresOf(evaluation)}: slightly below the best possible.`,
		];
	if (task === "next")
		return [
			...(oracles.some(({ label }) => !isUninformed(label))
				? [
						"For the next record it gives the exact probability, from the records and the insured periods: no model can do better except by chance.",
					]
				: []),
			...(oracles.some(({ label }) => isUninformed(label))
				? [
						"With policies unknown it assumes that everybody is insured from birth on; this is not an upper bound.",
					]
				: []),
		];
	if (task === "chf-paper")
		return [
			"For heart failure it gives the true rate of the code at the query time: it ranks patients, but it is not the probability of the label, nor a proven upper bound.",
		];
	return [`What it predicts in the task “${task}” is stated in the notes of that task.`];
}

const isUninformed = (label: string) => label.includes("unknown");

/** Explains each measure of the page and the baselines. */
function readingSection({ evaluations }: Report): Section {
	const rows = evaluations.flatMap(({ rows }) => rows);
	const metrics = [...new Set(rows.flatMap(({ metrics }) => Object.keys(metrics)))];
	const there = (who: string) => rows.some((row) => row.who === who);
	const labelled = (name: string) => rows.some(({ label }) => label === name);
	const terms: (readonly [string, string])[] = [
		...metrics.flatMap((metric) => {
			const { title, term = title.replace(/, .*/, ""), reading } = measureKind(metric);
			return reading === "" ? [] : [[term, reading] as const];
		}),
		[
			"95 % interval",
			"From a bootstrap: patients are drawn with replacement many times, and 95 % of the results lie inside. It shows how much depends on the choice of test patients.",
		],
		...(labelled("age and sex")
			? [
					[
						"age and sex",
						"A baseline without the history: the rate of first records in training, by age and sex.",
					] as const,
				]
			: []),
		...(labelled("regression per code")
			? [
					[
						"regression per code",
						"A baseline that a careful analyst would fit: one logistic regression per code and horizon, on age, sex and the counts of all codes.",
					] as const,
				]
			: []),
		...(rows.some(({ label }) => label.startsWith("own history"))
			? [
					[
						"own history",
						"A baseline without a model: how often the patient already had each code, mixed with the frequency of codes in training.",
					] as const,
				]
			: []),
		...(labelled("code frequencies")
			? [
					[
						"code frequencies",
						"A baseline without the history: the frequency of codes in training.",
					] as const,
				]
			: []),
		...(labelled("prevalence")
			? [["prevalence", "Everybody gets the same probability: the share of cases."] as const]
			: []),
		...(there("oracle")
			? [
					[
						"reference model",
						`The rules that the people were simulated by. It does not exist for real people. ${evaluations.flatMap(oracleReading).join(" ")}`,
					] as const,
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
