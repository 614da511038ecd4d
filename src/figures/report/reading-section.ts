import { html } from "./html.js";
import { measureKind } from "./measures.js";
import type { Report } from "./report.js";
import type { Section } from "./section.js";

/** Each measure of the page in a sentence, and what stands beside the model. */
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
						"The rules the people were simulated by, asked for the true probabilities: a bound for every model, and available for simulated people only.",
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
