import { html, Markup } from "../../../src/evaluate/report/markup.js";

/** Headings, lists, tables, code and paragraphs as HTML; everything else stays text. */
export const markdownMarkup = (text: string): Markup =>
	html`${text
		.replace(/^---\n.*?\n---\n/s, "")
		.trim()
		.split(/\n{2,}/)
		.map(blockMarkup)}`;

function blockMarkup(block: string): Markup {
	const [, hashes, heading = ""] = /^(#{1,6}) +(.*)$/.exec(block) ?? [];
	if (hashes !== undefined) {
		const level = Math.min(6, hashes.length + 2);
		return new Markup(`<h${level}>${html`${inline(heading)}`.text}</h${level}>`);
	}
	if (block.startsWith("```"))
		return html`<pre><code>${block.replace(/^```.*\n|\n```$/g, "")}</code></pre>`;
	if (block.startsWith("|")) return tableMarkup(block.split("\n"));
	if (/^[-*] /.test(block))
		return html`<ul>${block
			.slice(2)
			.split(/\n[-*] /)
			.map((item) => html`<li>${inline(item.replace(/\n\s*/g, " "))}</li>`)}</ul>`;
	return html`<p>${inline(block.replaceAll("\n", " "))}</p>`;
}

function tableMarkup(lines: readonly string[]): Markup {
	const [head = [], ...rows] = lines
		.filter((line) => !/^[|\s:-]+$/.test(line))
		.map((line) =>
			line
				.replace(/^\||\|$/g, "")
				.split("|")
				.map((cell) => cell.trim()),
		);
	const name = head.filter(Boolean).join(", ") || "Table";
	return html`<section class="scroll-table wide" aria-label="${name}" tabindex="0"><table>
<thead><tr>${head.map((cell) => (cell === "" ? html`<td></td>` : html`<th scope="col">${inline(cell)}</th>`))}</tr></thead>
<tbody>${rows.map((cells) => html`<tr>${cells.map((cell) => html`<td>${inline(cell)}</td>`)}</tr>\n`)}</tbody>
</table></section>`;
}

/** Code and emphasis within a line; links become their text. */
const inline = (text: string): Markup[] =>
	text.split(/(`[^`]+`|\*\*[^*]+\*\*|\[[^\]]+\]\([^)]*\))/).map((part) => {
		if (part.startsWith("`")) return html`<code>${part.slice(1, -1)}</code>`;
		if (part.startsWith("**")) return html`<strong>${part.slice(2, -2)}</strong>`;
		return html`${part.replace(/^\[([^\]]+)\]\(.*\)$/, "$1")}`;
	});
