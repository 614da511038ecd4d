import { escaped } from "../charts/xml.js";

/** HTML text; every other text in a page is escaped. */
export class Markup {
	constructor(readonly text: string) {}
}

export type Part = Markup | string | number | undefined | readonly Part[];

/** A template tag: the template is HTML, the inserted values are escaped text. */
export const html = (template: TemplateStringsArray, ...parts: readonly Part[]): Markup =>
	new Markup(template.reduce((all, text, at) => all + textOf(parts[at - 1]) + text));

function textOf(part: Part): string {
	if (part === undefined) return "";
	if (part instanceof Markup) return part.text;
	if (typeof part === "object") return part.map(textOf).join("");
	// Keep a number and its percent sign on one line.
	return escaped(`${part}`).replace(/(\d) %/g, "$1\u00a0%");
}
