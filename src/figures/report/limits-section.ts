import { html } from "./html.js";
import type { Report } from "./report.js";
import type { Section } from "./section.js";

export function limitsSection({ simulated, missing, summary, split }: Report): Section {
	const limits = [
		"It is not a medical device. Nothing here should guide the care of a person.",
		simulated
			? "The people are simulated: all rates are invented, and the results say nothing about real people. They show that the method finds what is there to be found."
			: "The results hold for people recorded as these were; in another place, time or record system they must be measured again.",
		"A probability is given that something is recorded at the time asked about. It is not the chance that a disease is there, nor that it is recorded at all within a period.",
		"Records are what was coded, not what befell: a code may stand for a suspicion, and what nobody recorded cannot be learned.",
		"An association is not a cause. What a risk rises after is not thereby what it rises from.",
		`The intervals tell how much depends on the ${summary.splits[split].patients.toLocaleString("en-US")} ${split} patients, not on the seed of the training.`,
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
