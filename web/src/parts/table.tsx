import type { ReactNode, SVGProps } from "react";
import { wrapped } from "../../../src/evaluate/charts/text.js";
import { widerFont } from "./picture.js";

interface ScrollTableProps {
	readonly label: string;
	/** Scrolls sideways at full height; if left out, it is as high as a panel. */
	readonly wide?: boolean;
	readonly children: ReactNode;
}

/** A table that scrolls if it does not fit. */
export function ScrollTable({ label, wide, children }: ScrollTableProps) {
	return (
		<section
			className={`scroll-table${wide ? " wide" : ""}`}
			aria-label={label}
			// biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
			tabIndex={0}
		>
			<table>{children}</table>
		</section>
	);
}

interface TextTableProps {
	readonly caption: string;
	readonly columns: readonly ReactNode[];
	readonly rows: readonly (readonly ReactNode[])[];
	/** Whether a column is marked. */
	readonly isChosen?: (column: number) => boolean;
}

/** A table of texts, with a caption and a name for each column. */
export function TextTable({ caption, columns, rows, isChosen = () => false }: TextTableProps) {
	const style = (column: number) => (isChosen(column) ? "chosen" : undefined);
	return (
		<ScrollTable label={caption} wide>
			<caption>{caption}</caption>
			<thead>
				<tr>
					{columns.map((name, column) => (
						<th key={column} scope="col" className={style(column)}>
							{name}
						</th>
					))}
				</tr>
			</thead>
			<tbody>
				{rows.map((row, line) => (
					<tr key={line}>
						{row.map((cell, column) => (
							<td key={column} className={style(column)}>
								{cell}
							</td>
						))}
					</tr>
				))}
			</tbody>
		</ScrollTable>
	);
}

interface TableDrawingProps {
	readonly columns: readonly string[];
	readonly rows: readonly {
		readonly name: string;
		readonly colour?: string | undefined;
		/** The lines of each cell; the last cell is that of the last column. */
		readonly cells: readonly (readonly string[])[];
	}[];
}

const [nameWidth, columnWidth, rowLine] = [300, 138, 16];

/** A table as a figure to save; on the page, the table itself is shown. */
export function TableDrawing({ columns, rows }: TableDrawingProps) {
	const right = (column: number) => nameWidth + (column + 1) * columnWidth - 12;
	let bottom = 24;
	const texts: SVGProps<SVGTextElement>[] = columns.map((column, at) => ({
		className: "drawing-text",
		x: right(at),
		y: 13,
		textAnchor: "end",
		children: column,
	}));
	for (const { name, colour, cells } of rows) {
		const names = wrapped(name, nameWidth / widerFont, { size: 12 });
		const y = (line: number) => bottom + 14 + line * rowLine;
		for (const [line, children] of names.entries())
			texts.push({
				className: "drawing-name",
				x: 12,
				y: y(line),
				style: { fill: colour },
				children,
			});
		for (const [cell, lines] of cells.entries())
			for (const [line, children] of lines.entries())
				texts.push({
					className: line === 0 ? "drawing-name" : "drawing-text",
					x: right(columns.length - cells.length + cell),
					y: y(line),
					textAnchor: "end",
					children,
				});
		bottom += Math.max(names.length, ...cells.map((lines) => lines.length)) * rowLine + 10;
	}
	return (
		<svg
			data-drawing
			className="off-screen"
			width={right(columns.length - 1) + 12}
			height={bottom}
			aria-hidden="true"
		>
			{texts.map((text, at) => (
				<text key={at} {...text} />
			))}
		</svg>
	);
}
