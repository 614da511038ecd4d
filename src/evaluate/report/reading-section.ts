import type { Evaluation } from "../evaluation.js";
import { html } from "./html.js";
import { measureKind } from "./measures.js";
import type { Report } from "./report.js";
import { futuresOf } from "./rows.js";
import type { Section } from "./section.js";

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
export function readingSection({ evaluations }: Report): Section {
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
