import { html, Markup, type Part } from "./html.js";
import type { DrawnFigure } from "./report.js";
import { scrolling } from "./table.js";

/** A section of the page, listed in its contents. */
export interface Section {
	readonly id: string;
	readonly title: string;
	readonly body: Part;
	/** Whether it is closed at first. */
	readonly folded?: boolean;
	/** Half as wide as the page on wide screens, next to another half. */
	readonly half?: boolean;
}

/** Sections one below the other; halves side by side. */
export function sectionsMarkup(sections: readonly Section[]): Markup {
	const halves = sections.filter(({ half }) => half);
	const [first] = halves;
	return html`${sections.map((section) => {
		if (!section.half) return sectionMarkup(section);
		return section === first
			? html`<div class="halves">\n${halves.map(sectionMarkup)}</div>\n`
			: "";
	})}`;
}

const sectionMarkup = ({ id, title, body, folded }: Section): Markup =>
	folded
		? html`<section class="folded" aria-labelledby="${id}"><details>
<summary><h2 id="${id}">${title}</h2></summary>
${body}
</details></section>
`
		: html`<section aria-labelledby="${id}">
<h2 id="${id}">${title}</h2>
${body}
</section>
`;

/** A figure with its caption; the SVG has its own title and alternative text. */
export const figureMarkup = ({ id, title, svg, narrow, half, caption }: DrawnFigure): Markup =>
	html`<figure id="${id}"${narrow ? new Markup(` class="both${half ? " half" : ""}"`) : ""}>
${scrolling(title, html`${drawing(svg)}${narrow ? drawing(narrow) : ""}`)}
<figcaption>${caption}</figcaption>
</figure>
`;

/** Keeps the SVG's size: text that is scaled down with it could not be read. */
function drawing(svg: string): Markup {
	if (!svg.startsWith("<svg ")) throw new Error("a drawing of a report must be an svg element");
	return new Markup(svg.trim());
}
