import type { ReactNode } from "react";
import { ScrollTable } from "./table.js";

/** Renders headings, lists, tables, code and paragraphs; everything else stays text, never HTML. */
export function Markdown({ text }: { readonly text: string }) {
	return <div className="markdown">{blocksOf(text).map((block, at) => drawn(block, `${at}`))}</div>;
}

type Block =
	| { readonly kind: "heading"; readonly level: number; readonly text: string }
	| { readonly kind: "list"; readonly items: readonly string[] }
	| { readonly kind: "table"; readonly rows: readonly (readonly string[])[] }
	| { readonly kind: "code"; readonly text: string }
	| { readonly kind: "text"; readonly text: string };

const cellsOf = (line: string) =>
	line
		.trim()
		.replace(/^\||\|$/g, "")
		.split("|")
		.map((cell) => cell.trim());

export function blocksOf(text: string): Block[] {
	const blocks: Block[] = [];
	const lines = text.replace(/^---\n.*?\n---\n/s, "").split("\n");
	for (let at = 0; at < lines.length; ) {
		const line = lines[at] as string;
		const take = (belongs: (line: string) => boolean) => {
			const from = at;
			while (at < lines.length && belongs(lines[at] as string)) at++;
			return lines.slice(from, at);
		};
		const heading = /^(#{1,6}) +(.*)$/.exec(line);
		if (line.trim() === "") at++;
		else if (heading) {
			blocks.push({
				kind: "heading",
				level: (heading[1] as string).length,
				text: heading[2] as string,
			});
			at++;
		} else if (line.startsWith("```")) {
			at++;
			const inside = take((one) => !one.startsWith("```"));
			at++;
			blocks.push({ kind: "code", text: inside.join("\n") });
		} else if (line.trimStart().startsWith("|")) {
			const rows = take((one) => one.trimStart().startsWith("|"));
			blocks.push({
				kind: "table",
				rows: rows.filter((row) => !/^[|\s:-]+$/.test(row)).map(cellsOf),
			});
		} else if (/^\s*[-*] /.test(line)) {
			const items: string[] = [];
			for (const one of take((own) => own.trim() !== "" && !/^#|^\|/.test(own)))
				if (/^\s*[-*] /.test(one)) items.push(one.replace(/^\s*[-*] /, ""));
				else items[items.length - 1] += ` ${one.trim()}`;
			blocks.push({ kind: "list", items });
		} else
			blocks.push({
				kind: "text",
				text: take((one) => one.trim() !== "" && !/^(#|\||```|\s*[-*] )/.test(one)).join(" "),
			});
	}
	return blocks;
}

function drawn(block: Block, key: string): ReactNode {
	switch (block.kind) {
		case "heading": {
			const Heading = `h${Math.min(6, block.level + 2)}` as "h3";
			return <Heading key={key}>{inline(block.text)}</Heading>;
		}
		case "list":
			return (
				<ul key={key}>
					{block.items.map((item) => (
						<li key={item}>{inline(item)}</li>
					))}
				</ul>
			);
		case "code":
			return (
				<pre key={key}>
					<code>{block.text}</code>
				</pre>
			);
		case "table": {
			const [head = [], ...rows] = block.rows;
			return (
				<ScrollTable wide label={head.filter(Boolean).join(", ") || "Table"} key={key}>
					<thead>
						<tr>
							{head.map((cell) =>
								cell === "" ? (
									<td key="" />
								) : (
									<th key={cell} scope="col">
										{inline(cell)}
									</th>
								),
							)}
						</tr>
					</thead>
					<tbody>
						{rows.map((row) => (
							<tr key={row.join("|")}>
								{row.map((cell, column) => (
									<td key={`${head[column]}`}>{inline(cell)}</td>
								))}
							</tr>
						))}
					</tbody>
				</ScrollTable>
			);
		}
		case "text":
			return <p key={key}>{inline(block.text)}</p>;
	}
}

/** Code and emphasis within a line; links become their text. */
function inline(text: string): ReactNode[] {
	return text.split(/(`[^`]+`|\*\*[^*]+\*\*|\[[^\]]+\]\([^)]*\))/).map((part) => {
		if (part.startsWith("`")) return <code key={part}>{part.slice(1, -1)}</code>;
		if (part.startsWith("**")) return <strong key={part}>{part.slice(2, -2)}</strong>;
		const link = /^\[([^\]]+)\]/.exec(part);
		return link ? link[1] : part;
	});
}
