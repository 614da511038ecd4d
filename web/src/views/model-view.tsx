import type { About } from "../data/about.js";
import type { Evaluations, Memory } from "../data/contract.js";
import { useJson } from "../data/use-json.js";
import type { Loaded } from "../data/use-loaded.js";
import { Markdown } from "../parts/markdown.js";
import { Notice } from "../parts/notice.js";
import { Panel } from "../parts/panel.js";
import { WhenLoaded } from "../parts/when-loaded.js";
import { Calibrations } from "./calibrations.js";
import { inOrder } from "./evaluation-order.js";
import { EvaluationPanel } from "./evaluation-panel.js";
import { MemoryTable } from "./memory-table.js";
import { ModelFacts } from "./model-facts.js";

interface ModelViewProps {
	readonly about: Loaded<About>;
	/** What executes the model in this page. */
	readonly runtime: string | null;
}

/** The model's facts, evaluation, memory and model card. */
export function ModelView({ about, runtime }: ModelViewProps) {
	const evaluation = useJson<Evaluations>("explorer/evaluation.json");
	const memory = useJson<Memory>("explorer/memory.json");
	return (
		<>
			<WhenLoaded loaded={about} what="the facts of the model">
				{(value) => <ModelFacts about={value} runtime={runtime} />}
			</WhenLoaded>
			<WhenLoaded loaded={evaluation} what="the evaluation">
				{({ evaluations }) =>
					evaluations.length === 0 ? (
						<Notice kind="empty" title="The model has not been evaluated yet">
							<p>
								Run <code>trajgpt evaluate RUN</code>, then start <code>trajgpt serve</code> again.
							</p>
						</Notice>
					) : (
						<>
							{inOrder(evaluations).map((one) => (
								<EvaluationPanel key={one.task} evaluation={one} />
							))}
							<Calibrations evaluations={evaluations} />
						</>
					)
				}
			</WhenLoaded>
			<WhenLoaded loaded={memory} what="the memory of the heads">
				{(value) =>
					value.heads.length === 0 ? (
						<Notice kind="empty" title="The memory of the heads is not known">
							<p>It is measured only if the run’s dataset is available.</p>
						</Notice>
					) : (
						<Panel
							title="Memory"
							subtitle={`half-life of each head${value.unit === "events" ? " in events" : ""}, by the category of the last code: the time until half of its state has decayed`}
							rows={() => [
								[
									"category",
									...value.heads.map(
										({ layer, head }) => `layer ${layer} head ${head}, ${value.unit}`,
									),
								],
								...value.categories.map((category, at) => [
									category,
									...value.heads.map(({ halfLives }) => halfLives[at] ?? null),
								]),
							]}
						>
							<MemoryTable memory={value} />
						</Panel>
					)
				}
			</WhenLoaded>
			{about.state === "ready" && (
				<Panel title="Model card" subtitle="included in every export of this model">
					<details>
						<summary>Read it</summary>
						<Markdown text={about.value.modelCard} />
					</details>
				</Panel>
			)}
		</>
	);
}
