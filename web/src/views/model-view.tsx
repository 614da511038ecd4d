import type { About } from "../data/about.js";
import type { Evaluations, Memory } from "../data/contract.js";
import { type Loaded, useJson } from "../data/use-json.js";
import { Markdown } from "../parts/markdown.js";
import { Notice } from "../parts/notice.js";
import { Panel } from "../parts/panel.js";
import { Calibrations } from "./calibrations.js";
import { inOrder } from "./evaluation-order.js";
import { EvaluationPanel } from "./evaluation-panel.js";
import { MemoryTable } from "./memory-table.js";
import { ModelFacts } from "./model-facts.js";

interface ModelViewProps {
	readonly about: Loaded<About>;
	/** What executes here, in words. */
	readonly runtime: string | null;
}

/** How good the model is, what it is made of, and how long it remembers. */
export function ModelView({ about, runtime }: ModelViewProps) {
	const evaluation = useJson<Evaluations>("explorer/evaluation.json");
	const memory = useJson<Memory>("explorer/memory.json");
	return (
		<>
			<Shown loaded={about} what="what the model is">
				{(value) => <ModelFacts about={value} runtime={runtime} />}
			</Shown>
			<Shown loaded={evaluation} what="the evaluation">
				{({ evaluations }) =>
					evaluations.length === 0 ? (
						<Notice kind="empty" title="Nothing was measured yet">
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
			</Shown>
			<Shown loaded={memory} what="how long heads remember">
				{(value) =>
					value.heads.length === 0 ? (
						<Notice kind="empty" title="How long heads remember is not known">
							<p>It is measured where the run’s dataset is at hand.</p>
						</Notice>
					) : (
						<Panel
							title="Memory"
							subtitle={`half-life of each head, by the category of the code that came last${value.unit === "events" ? ", in events" : ""}: how long until half of what it holds is forgotten`}
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
			</Shown>
			{about.state === "ready" && (
				<Panel title="Model card" subtitle="as it goes with every export of this model">
					<details>
						<summary>Read it</summary>
						<Markdown text={about.value.modelCard} />
					</details>
				</Panel>
			)}
		</>
	);
}

interface ShownProps<T> {
	readonly loaded: Loaded<T>;
	readonly what: string;
	readonly children: (value: T) => React.ReactNode;
}

function Shown<T>({ loaded, what, children }: ShownProps<T>) {
	if (loaded.state === "ready") return children(loaded.value);
	return loaded.state === "loading" ? (
		<Notice kind="loading" title={`Loading ${what}…`} />
	) : (
		<Notice kind="error" title={`Could not load ${what}`}>
			<p>{loaded.message}</p>
		</Notice>
	);
}
