/** As much of the DOM as drawing needs; a browser's and linkedom's elements are such. */
export interface SvgNode {
	readonly nodeType: number;
	readonly localName?: string | null;
	readonly textContent: string | null;
	readonly attributes?: Iterable<{ readonly name: string; readonly value: string }>;
	readonly childNodes: Iterable<SvgNode>;
}

const element = 1;
const text = 3;

/** What XML 1.0 cannot hold, however it is escaped. */
const unspeakable =
	// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it is about
	/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

export function escaped(value: string): string {
	return value
		.replace(unspeakable, "\ufffd")
		.replaceAll("&", "&amp;")
		.replaceAll("<", "&lt;")
		.replaceAll(">", "&gt;")
		.replaceAll('"', "&quot;");
}

export function openTag(name: string, attributes: Readonly<Record<string, string | number>>) {
	const written = Object.entries(attributes).map(
		([key, value]) => ` ${key}="${escaped(`${value}`)}"`,
	);
	return `<${name}${written.join("")}>`;
}

const numeric = new Set("cx cy d height points r rx ry transform width x x1 x2 y y1 y2".split(" "));

/** Coordinates to a hundredth of a pixel: smaller files, the same on every processor. */
const shortened = (value: string) =>
	value.replace(/-?\d+\.\d{3,}(e-?\d+)?/g, (number) => `${Number(Number(number).toFixed(2)) + 0}`);

/**
 * Plot's elements as XML: a browser would write them as HTML, attributes in an order of its own. Left out
 * are Plot's style sheet, written for HTML, its class, and its labels of groups, which ARIA forbids on an element
 * without a role: the drawing has one description. Its ids, which count up in a process, are renamed by `nameOf`.
 */
export function xmlOf(node: SvgNode, nameOf: (id: string) => string): string {
	if (node.nodeType === text) return escaped(node.textContent ?? "");
	const name = node.localName;
	if (node.nodeType !== element || !name || name === "style") return "";
	const attributes = [...(node.attributes ?? [])]
		.filter(({ name }) => name !== "class" && name !== "aria-label")
		.sort((a, b) => (a.name < b.name ? -1 : 1))
		.map((attribute) => {
			const value = attribute.value.replace(/\bplot-[a-zA-Z]+-\d+\b/g, (id) => nameOf(id));
			return [attribute.name, numeric.has(attribute.name) ? shortened(value) : value] as const;
		});
	const inside = [...node.childNodes].map((child) => xmlOf(child, nameOf)).join("");
	const open = openTag(name, Object.fromEntries(attributes));
	return inside === "" ? `${open.slice(0, -1)}/>` : `${open}${inside}</${name}>`;
}
