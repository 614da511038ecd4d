const entities: Readonly<Record<string, string>> = {
	"&": "&amp;",
	"<": "&lt;",
	">": "&gt;",
	'"': "&quot;",
	"'": "&#39;",
};

/** Text as HTML. */
export const escaped = (text: string): string =>
	text.replace(/[&<>"']/g, (sign) => entities[sign] as string);

/** Text with `code` between backticks, as HTML. */
export const withCode = (text: string): string =>
	escaped(text).replace(/`([^`]+)`/g, "<code>$1</code>");
