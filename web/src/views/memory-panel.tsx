import type { Memory } from "../data/contract.js";
import { Notice } from "../parts/notice.js";
import { Panel } from "../parts/panel.js";
import { MemoryTable } from "./memory-table.js";

/** How long each head remembers. */
export function MemoryPanel({ memory }: { readonly memory: Memory }) {
	const { heads, categories, unit } = memory;
	if (heads.length === 0)
		return (
			<Notice kind="empty" title="The memory of the heads is not known">
				<p>It is measured only if the run’s dataset is available.</p>
			</Notice>
		);
	return (
		<Panel
			title="Memory"
			subtitle={`half-life of each head${unit === "events" ? " in events" : ""}, by the category of the last code: the time until half of its state has decayed. L1 H2: layer 1, head 2`}
			rows={() => [
				["category", ...heads.map(({ layer, head }) => `layer ${layer} head ${head}, ${unit}`)],
				...categories.map((category, at) => [
					category,
					...heads.map(({ halfLives }) => halfLives[at] ?? null),
				]),
			]}
		>
			<MemoryTable memory={memory} />
		</Panel>
	);
}
