import { specialCount } from "../../../src/cohort/vocabulary.js";
import { thousands } from "../../../src/figures/numbers.js";
import { CalibrationChart } from "../charts/calibration-chart.js";
import type { About } from "../data/about.js";
import type { Evaluations, Measured, Memory } from "../data/contract.js";
import { type Loaded, useJson } from "../data/use-json.js";
import { Markdown } from "../parts/markdown.js";
import { Notice } from "../parts/notice.js";
import { Panel } from "../parts/panel.js";
import { durationText } from "../parts/words.js";
import { EvaluationPanel } from "./evaluation-panel.js";
import { MemoryTable } from "./memory-table.js";

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
				{(value) => <Facts about={value} runtime={runtime} />}
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
									...value.heads.map(({ layer, head }) => `layer ${layer} head ${head}`),
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

const order = ["next", "forecast", "insulin", "chf"];

/** As the report has them; further tasks after them. */
const inOrder = (evaluations: readonly Measured[]): Measured[] =>
	evaluations.toSorted(
		(a, b) => ((order.indexOf(a.task) + 9) % 9) - ((order.indexOf(b.task) + 9) % 9),
	);

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

function Facts({ about, runtime }: { readonly about: About; readonly runtime: string | null }) {
	const { model, parameters, dataset, training, config } = about;
	const { counts, reach, timeUnit } = dataset;
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
			"learned from",
			`${thousands(counts.splits.train?.patients ?? 0)} patients, ${thousands(counts.splits.train?.events ?? 0)} events`,
		],
		["measured on", `${thousands(counts.splits.test?.patients ?? 0)} others`],
		...(reach ? [["longest history", durationText(reach.longestDays)] as const] : []),
		["unit of time", `${timeUnit.name} of ${timeUnit.days} days`],
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

function Calibrations({ evaluations }: Evaluations) {
	const drawn = inOrder(evaluations).flatMap(({ task, calibration, topCalibration }: Measured) => [
		...(calibration
			? [
					{
						task,
						bins: calibration,
						what: task === "next" ? "every code of every question" : `the answer to ${task}`,
					},
				]
			: []),
		...(topCalibration
			? [{ task: `${task} top`, bins: topCalibration, what: "the likeliest code of each question" }]
			: []),
	]);
	if (drawn.length === 0) return null;
	return (
		<div className="two">
			{drawn.map(({ task, bins, what }) => (
				<Panel
					key={task}
					title={`Calibration: ${what}`}
					subtitle="on the line, what is said to come so often comes so often; bars: 95 % intervals"
					drawing
					rows={() => [
						["said", "came", "low", "high", "answers"],
						...bins.map(({ predicted, observed, low, high, count }) => [
							predicted,
							observed,
							low,
							high,
							count,
						]),
					]}
				>
					<CalibrationChart bins={bins} logarithmic={task === "next"} />
				</Panel>
			))}
		</div>
	);
}
