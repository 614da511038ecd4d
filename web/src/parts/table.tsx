import type { ReactNode } from "react";

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
