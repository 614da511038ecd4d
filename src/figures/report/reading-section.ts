import type { Evaluation } from "../../evaluate/evaluation.js";
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
	if (task === "forecast")
		return [
			`Of records far ahead it is the true law, by ${futuresOf(evaluation)}: a little below the best possible.`,
		];
	if (task === "next")
		return [
			...(oracles.some(({ label }) => !isUninformed(label))
				? [
						"Of the next record it is the exact probability, from the records and from when people were insured: no model can do better but by chance.",
					]
				: []),
			...(oracles.some(({ label }) => isUninformed(label))
				? [
						"With policies unknown it takes everybody to be insured from birth on; that is no bound, a model may learn better.",
					]
				: []),
		];
	if (task === "chf")
		return [
			"Of heart failure it is the true rate of the code on the day asked about: made for ranking, it is not the chance of the label, and no bound by proof.",
		];
	return [`What it is asked in the task “${task}” stands in the notes there.`];
}

const isUninformed = (label: string) => label.includes("unknown");

/** Explains each measure of the page and the baselines. */
export function readingSection({ evaluations }: Report): Section {
	const rows = evaluations.flatMap(({ rows }) => rows);
	const metrics = [...new Set(rows.flatMap(({ metrics }) => Object.keys(metrics)))];
	const there = (who: string) => rows.some((row) => row.who === who);
	const terms: (readonly [string, string])[] = [
		...metrics.flatMap((metric) => {
			const { title, term = title.replace(/, .*/, ""), reading } = measureKind(metric);
			return reading === "" ? [] : [[term, reading] as const];
		}),
		[
			"95 % interval",
			"Patients are drawn with replacement many times over and everything is measured again; 95 % of the results lie inside. It tells how much depends on who happens to be in the test.",
		],
		...(there("history")
			? [
					[
						"own history",
						"An opponent without a model: the codes a patient already had, by how often, a little mixed with how frequent codes are at large.",
					] as const,
				]
			: []),
		...(rows.some(({ label }) => label === "code frequencies")
			? [
					[
						"code frequencies",
						"An opponent that knows nobody: codes as frequent as they are in training.",
					] as const,
				]
			: []),
		...(rows.some(({ label }) => label === "prevalence")
			? [["prevalence", "Everybody gets the same probability: the share of cases."] as const]
			: []),
		...(there("oracle")
			? [
					[
						"oracle",
						`The rules the people were simulated by; there are none to ask for real people. ${evaluations.flatMap(oracleReading).join(" ")}`,
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
