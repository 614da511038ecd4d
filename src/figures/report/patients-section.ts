import { percent, thousands } from "../numbers.js";
import { html, type Markup } from "./html.js";
import type { PatientStory, Report } from "./report.js";
import { figureMarkup, type Section } from "./section.js";

export const patientsSection = ({ stories, simulated }: Report): Section[] =>
	stories.patients.length === 0
		? []
		: [
				{
					id: "patients",
					title: stories.patients.length === 1 ? "One patient" : "Single patients",
					body: html`<p>${stories.rule}${simulated ? " They are simulated people." : " They are real records: treat this page as you treat those."}</p>
${stories.patients.map(storyMarkup)}`,
				},
			];

function storyMarkup(story: PatientStory): Markup {
	const { id, target, later, foreseen, lookUp, recorded, risk } = story;
	const change =
		risk.last > 1.2 * risk.first ? "rose" : risk.last < risk.first / 1.2 ? "fell" : "stayed";
	const course =
		change === "stayed"
			? `stayed near ${percent(risk.last)}`
			: `${change} from ${percent(risk.first)} to ${percent(risk.last)}`;
	return html`<h3>${id}: ${target}</h3>
<p>The model was shown ${thousands(lookUp)} records. Of the ${thousands(later)} that came later, ${thousands(foreseen)} (${percent(later > 0 ? foreseen / later : 0)}) were among the ten likeliest at their date.
The risk it saw of ${target}, given that something is recorded, ${course} ${recorded ? html`until it was first recorded (${recorded})` : "over the history; it was never recorded"}.</p>
${figureMarkup(story.trajectory)}
${figureMarkup(story.riskCurve)}`;
}
