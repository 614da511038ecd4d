import { html, Markup, type Part } from "./html.js";
import type { DrawnFigure } from "./report.js";
import { scrolling } from "./table.js";

/** A section of the page, listed in its contents. */
export interface Section {
	readonly id: string;
	readonly title: string;
	readonly body: Part;
}

export const sectionMarkup = ({ id, title, body }: Section): Markup =>
	html`<section aria-labelledby="${id}">
<h2 id="${id}">${title}</h2>
${body}
</section>
`;

/** A figure with its caption; the SVG has its own title and alternative text. */
export const figureMarkup = ({ id, title, svg, caption }: DrawnFigure): Markup =>
	html`<figure id="${id}">
${scrolling(title, drawing(svg))}
<figcaption>${caption}</figcaption>
</figure>
`;

/** Removes the SVG's fixed size, so that the page determines it. */
function drawing(svg: string): Markup {
	if (!svg.startsWith("<svg ")) throw new Error("a drawing of a report must be an svg element");
	const end = svg.indexOf(">");
	return new Markup(
		svg.slice(0, end).replace(/ (width|height)="[^"]*"/g, "") + svg.slice(end).trim(),
	);
}
