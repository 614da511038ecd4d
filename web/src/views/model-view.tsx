import { thousands } from "../../../src/base/thousands.js";
import { specialCount } from "../../../src/data/cohort/vocabulary.js";
import { inOrder, taskOf } from "../../../src/evaluate/report/measures.js";
import type { About } from "../data/about.js";
import type { Evaluations, Memory } from "../data/contract.js";
import { type Loaded, useJson } from "../data/use-loaded.js";
import { Markdown } from "../parts/markdown.js";
import { Notice, WhenLoaded } from "../parts/notice.js";
import { Panel } from "../parts/panel.js";
import { ScrollTable } from "../parts/table.js";
import { durationText } from "../parts/words.js";
import type { OnsetEvaluation } from "./conditions-panel.js";
import { Calibrations, EvaluationPanel } from "./evaluation-panel.js";
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

interface ModelFactsProps {
	readonly about: About;
	/** What executes the model in this page. */
	readonly runtime: string | null;
}

/** Size, training data and training of the model. */
function ModelFacts({ about, runtime }: ModelFactsProps) {
	const { model, parameters, dataset, training, config } = about;
	const { counts, reach } = dataset;
	const size = ["layers", "heads", "dim"]
		.flatMap((name) =>
			config[name] === undefined ? [] : [`${config[name]} ${name === "dim" ? "wide" : name}`],
		)
		.join(", ");
	const facts: readonly (readonly [string, string])[] = [
		["model", model.name],
		["parameters", thousands(parameters)],
		["size", size],
		["codes", thousands(counts.tokens - specialCount)],
		[
			"trained on",
			`${thousands(counts.splits.train?.patients ?? 0)} patients, ${thousands(counts.splits.train?.events ?? 0)} events`,
		],
		["tested on", `${thousands(counts.splits.test?.patients ?? 0)} other patients`],
		...(reach ? [["longest history", durationText(reach.longestDays)] as const] : []),
		["training", `step ${thousands(training.step)}, seed ${training.seed}`],
		...(training.bestLoss === null
			? []
			: [["validation loss", `${training.bestLoss.toFixed(3)} nats`] as const]),
		...(runtime ? [["runs on", runtime] as const] : []),
	];
	return (
		<Panel title="The model" subtitle={model.cite}>
			<dl className="facts">
				{facts.map(([name, value]) => (
					<div key={name}>
						<dt>{name}</dt>
						<dd>{value}</dd>
					</div>
				))}
			</dl>
		</Panel>
	);
}

/** How long each head remembers. */
function MemoryPanel({ memory }: { readonly memory: Memory }) {
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

/** The half-life of each head by the category of the last code; darker is longer. */
function MemoryTable({ memory }: { readonly memory: Memory }) {
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
