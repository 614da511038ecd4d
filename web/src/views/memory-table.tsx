import { thousands } from "../../../src/base/thousands.js";
import type { Memory } from "../data/contract.js";
import { ScrollTable } from "../parts/scroll-table.js";
import { durationText } from "../parts/words.js";

/** The half-life of each head by the category of the last code; darker is longer. */
export function MemoryTable({ memory }: { readonly memory: Memory }) {
	const { heads, categories, unit } = memory;
	const values = heads.flatMap(({ halfLives }) => halfLives.filter((value) => value !== null));
	const [least, most] = [
		Math.log(Math.max(1e-3, Math.min(...values))),
		Math.log(Math.max(...values)),
	];
	const share = (value: number | null) =>
		value === null ? 1 : (Math.log(Math.max(1e-3, value)) - least) / (most - least || 1);
	const words = (value: number | null) =>
		value === null
			? "never"
			: unit === "days"
				? durationText(value)
				: value < 10
					? value.toFixed(1)
					: thousands(Math.round(value));
	return (
		<ScrollTable wide label="Half-life by head and category">
			<thead>
				<tr>
					<th scope="col">last code</th>
					{heads.map(({ layer, head }) => (
						<th key={`${layer} ${head}`} scope="col" className="number">
							<abbr title={`layer ${layer}, head ${head}`}>
								L{layer} H{head}
							</abbr>
						</th>
					))}
				</tr>
			</thead>
			<tbody>
				{categories.map((category, at) => (
					<tr key={category ?? ""}>
						<th scope="row">{category ?? "no category"}</th>
						{heads.map(({ layer, head, halfLives }) => {
							const value = halfLives[at] ?? null;
							return (
								<td
									key={`${layer} ${head}`}
									className="number heat"
									style={{ "--heat": `${Math.round(100 * share(value))}%` } as React.CSSProperties}
								>
									{words(value)}
								</td>
							);
						})}
					</tr>
				))}
			</tbody>
		</ScrollTable>
	);
}
