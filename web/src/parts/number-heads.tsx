interface NumberHeadsProps {
	/** The heading of the names of the rows. */
	readonly names: string;
	readonly titles: readonly string[];
}

/** The head of a table with a column of names and columns of numbers. */
export const NumberHeads = ({ names, titles }: NumberHeadsProps) => (
	<thead>
		<tr>
			<th scope="col">{names}</th>
			{titles.map((title) => (
				<th key={title} scope="col" className="number">
					{title}
				</th>
			))}
		</tr>
	</thead>
);
