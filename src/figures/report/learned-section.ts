import { durationName } from "../histogram-panel.js";
import type { NeighbourAgreement } from "../maps/neighbour-agreement.js";
import { percent, thousands } from "../numbers.js";
import { html, type Markup } from "./html.js";
import type { HeadInWords, Report } from "./report.js";
import { figureMarkup, type Section } from "./section.js";

export function learnedSection({ figures, agreement, memory }: Report): Section {
	return {
		id: "learned",
		title: "What the model has learned",
		body: html`<h3>Codes</h3>
${agreement ? agreementSentence(agreement) : ""}
${figureMarkup(figures.tokens)}
${figures.patients ? html`<h3>Patients</h3>\n${figureMarkup(figures.patients)}` : ""}
${figures.memory && memory ? html`<h3>Memory</h3>\n${memorySentence(memory)}\n${figureMarkup(figures.memory)}` : ""}`,
	};
}

/** States whether agreement is clearly above chance, slightly above, or not. */
function agreementSentence({ neighbours, share, byChance }: NeighbourAgreement): Markup {
	const more = share / byChance;
	const said =
		more >= 3
			? `Codes of a category lie together, though no category was ever shown to the model`
			: more > 1.2
				? `Codes of a category lie nearer to each other than chance would have it, though no category was ever shown to the model`
				: `Codes of a category do not lie together: what the model has learned of codes follows other lines, or little`;
	return html`<p>${said}: of the ${neighbours} codes nearest to a code, ${percent(share)} share its category; of codes drawn blindly, ${percent(byChance)}.</p>`;
}

function memorySentence({ shortest, longest, unit }: NonNullable<Report["memory"]>): Markup {
	const inWords = ({ halfLife }: HeadInWords) =>
		!Number.isFinite(halfLife)
			? "never"
			: unit === "days"
				? `within ${durationName(halfLife)}`
				: `within ${thousands(Number(halfLife.toPrecision(2)))} events`;
	const head = ({ layer, head }: HeadInWords) => `head ${head} of layer ${layer}`;
	const wide = longest.halfLife / shortest.halfLife;
	return html`<p>Each head forgets at a pace of its own, which depends on the code that came last. ${
		wide > 3
			? "The paces lie far apart: short and long memory stand side by side."
			: "The paces lie close together."
	} By the median over categories, ${head(shortest)} forgets half of what it holds ${inWords(shortest)}, ${head(longest)} ${inWords(longest)}.</p>`;
}

export const learningSection = ({ figures }: Report): Section[] =>
	figures.learning
		? [{ id: "learning", title: "How training went", body: figureMarkup(figures.learning) }]
		: [];
