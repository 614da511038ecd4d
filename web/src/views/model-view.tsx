import { inOrder, taskOf } from "../../../src/evaluate/report/measures.js";
import type { About } from "../data/about.js";
import type { Evaluations, Memory } from "../data/contract.js";
import { useJson } from "../data/use-json.js";
import type { Loaded } from "../data/use-loaded.js";
import { Markdown } from "../parts/markdown.js";
import { Notice } from "../parts/notice.js";
import { Panel } from "../parts/panel.js";
import { WhenLoaded } from "../parts/when-loaded.js";
import { Calibrations } from "./calibrations.js";
import { EvaluationPanel } from "./evaluation-panel.js";
import { MemoryPanel } from "./memory-panel.js";
import { ModelFacts } from "./model-facts.js";
import type { OnsetEvaluation } from "./onset-evaluation.js";
import { RiskQuality } from "./risk-quality.js";

interface ModelViewProps {
	readonly about: Loaded<About>;
	/** What executes the model in this page. */
	readonly runtime: string | null;
}

/** What was measured: first how good the risks are; folded, other tasks and how the model was made. */
export function ModelView({ about, runtime }: ModelViewProps) {
	const evaluation = useJson<Evaluations>("explorer/evaluation.json");
	const memory = useJson<Memory>("explorer/memory.json");
	return (
		<>
			<WhenLoaded loaded={evaluation} what="the evaluation">
				{({ evaluations }) => <Measured evaluations={evaluations} />}
			</WhenLoaded>
			<details className="folded">
				<summary>How the model was made: data, size, training, memory, model card</summary>
				<div className="folded-panels">
					<WhenLoaded loaded={about} what="the facts of the model">
						{(value) => <ModelFacts about={value} runtime={runtime} />}
					</WhenLoaded>
					<WhenLoaded loaded={memory} what="the memory of the heads">
						{(value) => <MemoryPanel memory={value} />}
					</WhenLoaded>
					{about.state === "ready" && (
						<Panel title="Model card" subtitle="included in every export of this model">
							<Markdown text={about.value.modelCard} />
						</Panel>
					)}
				</div>
			</details>
		</>
	);
}

const isOnset = (one: Evaluations["evaluations"][number]): one is OnsetEvaluation =>
	one.onset !== undefined;

function Measured({ evaluations }: Evaluations) {
	const onset = evaluations.find(isOnset);
	const others = inOrder(evaluations.filter((one) => one !== onset));
	if (evaluations.length === 0)
		return (
			<Notice kind="empty" title="The model has not been evaluated yet">
				<p>
					Run <code>trajgpt evaluate RUN</code>, then start <code>trajgpt serve</code> again.
				</p>
			</Notice>
		);
	return (
		<>
			{onset ? (
				<RiskQuality evaluation={onset} />
			) : (
				<Notice kind="empty" title="The risks have not been evaluated yet">
					<p>
						Run <code>trajgpt evaluate RUN --task onset</code>, then start{" "}
						<code>trajgpt serve</code> again. It needs a model that has learned risks.
					</p>
				</Notice>
			)}
			{others.length > 0 && (
				<details className="folded" open={!onset}>
					<summary>Other tasks: {others.map(({ task }) => taskOf(task).title).join(", ")}</summary>
					<div className="folded-panels">
						{others.map((one) => (
							<EvaluationPanel key={one.task} evaluation={one} />
						))}
						<Calibrations evaluations={others} />
					</div>
				</details>
			)}
		</>
	);
}
