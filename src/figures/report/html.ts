import { escaped } from "../xml.js";

/** Text that is markup already; whatever else goes into a page is escaped. */
export class Markup {
	constructor(readonly text: string) {}
}

export type Part = Markup | string | number | undefined | readonly Part[];

/** A piece of a page: what stands in the template is markup, what is put into it is text. */
export const html = (template: TemplateStringsArray, ...parts: readonly Part[]): Markup =>
	new Markup(template.reduce((all, text, at) => all + textOf(parts[at - 1]) + text));

function textOf(part: Part): string {
	if (part === undefined) return "";
	if (part instanceof Markup) return part.text;
	if (typeof part === "object") return part.map(textOf).join("");
	// A number is not parted from its percent sign.
	return escaped(`${part}`).replace(/(\d) %/g, "$1\u00a0%");
}
