import { type ReactNode, useId, useMemo, useState } from "react";
import { thousands } from "../../../src/base/thousands.js";
import { specialCount } from "../../../src/data/cohort/vocabulary.js";
import {
	calibrationCurves,
	calibrationFigure,
	onsetCalibrationFigure,
} from "../../../src/evaluate/charts/calibration-figure.js";
import type { Figure } from "../../../src/evaluate/charts/figure.js";
import { decayFigure } from "../../../src/evaluate/charts/model-figures.js";
import { counted, percent } from "../../../src/evaluate/charts/numbers.js";
import {
	byFifthFigure,
	codeScoresFigure,
	decisionFigure,
	decisionReading,
	usefulThresholds,
} from "../../../src/evaluate/charts/onset/condition-figures.js";
import { svgOf } from "../../../src/evaluate/charts/svg.js";
import { darkRules, type FigureSize, theme } from "../../../src/evaluate/charts/theme.js";
import type { OnsetDetails } from "../../../src/evaluate/evaluation.js";
import {
	forecastSection,
	labelledSections,
} from "../../../src/evaluate/report/evaluation-sections.js";
import { html, type Section } from "../../../src/evaluate/report/markup.js";
import { inOrder, shownHorizons, taskOf } from "../../../src/evaluate/report/measures.js";
import { onsetFindings } from "../../../src/evaluate/report/onset-findings.js";
import { onsetSections } from "../../../src/evaluate/report/onset-sections.js";
import type { About, EvaluationSummary, Evaluations, Memory } from "../data/contract.js";
import { type Loaded, useJson } from "../data/use-loaded.js";
import { useWidth } from "../parts/hooks.js";
import { markdownMarkup } from "../parts/markdown.js";
import { Notice, WhenLoaded } from "../parts/notice.js";
import { Panel, type PanelProps } from "../parts/panel.js";
import { durationText, yearsText } from "../parts/words.js";

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
			<Folded title="How the model was made: data, size, training, memory, model card">
				<WhenLoaded loaded={about} what="the facts of the model">
					{(value) => <ModelFacts about={value} runtime={runtime} />}
				</WhenLoaded>
				<WhenLoaded loaded={memory} what="the memory of the heads">
					{(value) => <MemoryPanel memory={value} />}
				</WhenLoaded>
				{about.state === "ready" && (
					<Panel title="Model card" subtitle="included in every export of this model">
						<div
							className="markdown"
							dangerouslySetInnerHTML={{ __html: markdownMarkup(about.value.modelCard).text }}
						/>
					</Panel>
				)}
			</Folded>
		</>
	);
}

interface FoldedProps {
	readonly title: string;
	readonly open?: boolean;
	readonly children: ReactNode;
}

/** Panels that are drawn once they are opened: a figure needs its width. */
function Folded({ title, open = false, children }: FoldedProps) {
	const [isOpen, setOpen] = useState(open);
	return (
		<details className="folded" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
			<summary>{title}</summary>
			{isOpen && <div className="folded-panels">{children}</div>}
		</details>
	);
}

type OnsetEvaluation = EvaluationSummary & { readonly onset: OnsetDetails };

const isOnset = (one: EvaluationSummary): one is OnsetEvaluation => one.onset !== undefined;

export function Measured({ evaluations }: Evaluations) {
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
				<Folded
					title={`Other tasks: ${others.map(({ task }) => taskOf(task).title).join(", ")}`}
					open={!onset}
				>
					<OtherTasks evaluations={others} />
				</Folded>
			)}
		</>
	);
}

function OtherTasks({ evaluations }: Evaluations) {
	const report = { evaluations, figures: {}, labels: [] };
	const curves = calibrationCurves(evaluations);
	return (
		<>
			{[forecastSection(report), ...labelledSections(report)].map((section) => (
				<SectionPanel key={section.id} section={section} rows={() => measureRows(evaluations)} />
			))}
			{curves.length > 0 && (
				<FigurePanel
					title="Calibration of other tasks"
					rows={() => curves.flatMap(({ name, bins }) => withFields({ task: name }, bins))}
					draw={(size) => calibrationFigure(curves, size)}
				/>
			)}
		</>
	);
}

/** Panels of names and lines are too wide to stand side by side in half a page. */
const oneColumn = (size: FigureSize) => (size === "half" ? "narrow" : size);

/** Whether risks can be trusted: discrimination, calibration, subgroups, decisions, and every condition. */
function RiskQuality({ evaluation }: { readonly evaluation: OnsetEvaluation }) {
	const { onset, patients, split, tooFew } = evaluation;
	const [years, setYears] = useState(shownHorizons(onset).at(-1) ?? 5);
	const isShown = (one: { readonly years: number }) => one.years === years;
	const horizons = onset.horizons.filter(isShown);
	const conditions = (onset.conditions ?? []).filter(isShown);
	const codes = onset.codes.filter(isShown);
	const atHorizon = { ...evaluation, onset: { ...onset, horizons } };
	const [discrimination, subgroups] = onsetSections({ evaluations: [atHorizon], figures: {} });
	const [model] = evaluation.rows;
	const error = model?.metrics[`weightedCalibrationError ${years}y`]?.value;
	const label = model?.label ?? "model";
	const decisions = horizons[0]?.decisions ?? [];
	const pooled = {
		name: "all conditions together",
		years,
		decisions: decisions.map(({ threshold, model: netBenefit, all }) => ({
			threshold,
			all,
			rows: [{ label, netBenefit }],
		})),
	};
	// The legend is that of the first: a baseline is known only by condition.
	const curves = [...conditions, pooled];
	const useful = usefulThresholds(pooled.decisions);
	return (
		<>
			<Panel
				title="How good are the risks?"
				subtitle={`Risk: the probability of a first record within ${yearsText(years)} of one day per person, death competing. ${counted(patients, "person", "people")} of the ${split} split, whom the model has never seen.`}
				tools={
					<label className="horizon">
						within{" "}
						<select value={years} onChange={(event) => setYears(Number(event.target.value))}>
							{onset.horizons.map((one) => (
								<option key={one.years} value={one.years}>
									{yearsText(one.years)}
								</option>
							))}
						</select>
					</label>
				}
			>
				{tooFew ? (
					<p>{tooFew}.</p>
				) : (
					<ul className="findings">
						{onsetFindings(evaluation, years).map(({ value, label, says }) => (
							<li key={label}>
								<p>
									<strong>{value}</strong> <span className="quiet">{label}</span>
								</p>
								<p>{says}</p>
							</li>
						))}
					</ul>
				)}
			</Panel>
			<div className="two even quality">
				{discrimination && (
					<SectionPanel section={discrimination} rows={() => measureRows([atHorizon])} />
				)}
				<FigurePanel
					title="Calibration"
					subtitle="on the diagonal, predicted risks come true; above it they are too low, below it too high"
					rows={() => horizons.flatMap(({ calibration }) => calibration)}
					draw={(size) =>
						onsetCalibrationFigure(
							horizons.map((horizon) => ({ ...horizon, error })),
							size,
						)
					}
				/>
				{subgroups && (
					<SectionPanel
						section={subgroups}
						rows={() => onset.subgroups.flatMap(({ rows, ...group }) => withFields(group, rows))}
					/>
				)}
				<FigurePanel
					title="Decision curve"
					subtitle={decisionReading}
					rows={() =>
						curves.flatMap(({ name, decisions }) =>
							decisions.flatMap(({ rows, ...point }) =>
								withFields({ condition: name, ...point }, rows),
							),
						)
					}
					draw={(size) => decisionFigure(curves, size)}
				>
					<p className="panel-words">
						All conditions together:{" "}
						{useful
							? `acting on the model does more good than acting on everybody or nobody at thresholds from ${percent(useful[0])} to ${percent(useful[1])}.`
							: "at no measured threshold does acting on the model do more good than acting on everybody or nobody."}
					</p>
				</FigurePanel>
			</div>
			{conditions.length > 0 && (
				<FigurePanel
					title="What happened, by predicted risk"
					rows={() =>
						conditions.flatMap(({ name, fifths }) =>
							fifths.map(({ observed, ...fifth }, index) => ({
								condition: name,
								fifth: index + 1,
								...fifth,
								observed: observed.at(-1),
							})),
						)
					}
					draw={(size) => byFifthFigure(conditions, oneColumn(size))}
				/>
			)}
			{codes.length > 0 && (
				<FigurePanel
					title="Every condition"
					subtitle={`${counted(codes.length, "condition")} with at least 20 first records`}
					rows={() =>
						codes.flatMap(({ rows, ...code }) =>
							rows.map(({ label, ...measures }) => {
								const values = Object.entries(measures).map(([name, one]) => [name, one?.value]);
								return { ...code, label, ...Object.fromEntries(values) };
							}),
						)
					}
					draw={(size) => codeScoresFigure(codes, years, oneColumn(size))}
				/>
			)}
		</>
	);
}

interface SectionPanelProps extends Pick<PanelProps, "rows"> {
	readonly section: Section;
}

/** A section of the report. `html` escapes all texts. */
const SectionPanel = ({ section: { title, body }, rows }: SectionPanelProps) => (
	<Panel title={title} rows={rows}>
		<div className="section" dangerouslySetInnerHTML={{ __html: html`${body}`.text }} />
	</Panel>
);

interface FigurePanelProps extends Omit<PanelProps, "children"> {
	readonly draw: (size: FigureSize) => Figure;
	readonly children?: ReactNode;
}

const FigurePanel = ({ draw, children, ...panel }: FigurePanelProps) => (
	<Panel {...panel} drawing>
		<Drawing draw={draw} />
		{children}
	</Panel>
);

/** A figure of the report, in the size that fits. */
function Drawing({ draw }: Pick<FigurePanelProps, "draw">) {
	const [ref, width] = useWidth<HTMLElement>();
	const ids = useId();
	const size = width < 480 ? "narrow" : width < theme.width ? "half" : "wide";
	const svg = useMemo(() => {
		if (width === 0) return "";
		recolourWhenDark();
		return svgOf(draw(size), document, { ids }).replace("<svg ", "<svg data-drawing ");
	}, [draw, size, width === 0, ids]);
	// `svgOf` escapes all texts.
	return <figure className="drawing" ref={ref} dangerouslySetInnerHTML={{ __html: svg }} />;
}

let isRecoloured = false;

/** Adds the rules once, from the script: the page's policy allows no style sheet in a document. */
function recolourWhenDark(): void {
	if (isRecoloured) return;
	const sheet = new CSSStyleSheet({ media: "(prefers-color-scheme: dark)" });
	sheet.replaceSync(darkRules);
	document.adoptedStyleSheets.push(sheet);
	isRecoloured = true;
}

const measureRows = (evaluations: readonly EvaluationSummary[]) =>
	evaluations.flatMap(({ task, rows }) =>
		rows.flatMap(({ label, metrics }) =>
			Object.entries(metrics).map(([name, measure]) => ({ task, label, name, ...measure })),
		),
	);

const withFields = (fields: object, values: readonly object[]) =>
	values.map((value) => ({ ...fields, ...value }));

function ModelFacts({
	about,
	runtime,
}: Pick<ModelViewProps, "runtime"> & { readonly about: About }) {
	const { model, parameters, dataset, training, config } = about;
	const { counts, reach } = dataset;
	const { train, test } = counts.splits;
	const settings = new Map(Object.entries(config));
	const size = ["layers", "heads", "dim"]
		.filter((name) => settings.has(name))
		.map((name) => `${settings.get(name)} ${name === "dim" ? "wide" : name}`)
		.join(", ");
	const facts = {
		model: model.name,
		parameters: thousands(parameters),
		size,
		codes: thousands(counts.tokens - specialCount),
		"trained on": `${thousands(train?.patients ?? 0)} patients, ${thousands(train?.events ?? 0)} events`,
		"tested on": `${thousands(test?.patients ?? 0)} other patients`,
		"longest history": reach && durationText(reach.longestDays),
		training: `step ${thousands(training.step)}, seed ${training.seed}`,
		"validation loss": training.bestLoss === null ? null : `${training.bestLoss.toFixed(3)} nats`,
		"runs on": runtime,
	};
	return (
		<Panel title="The model" subtitle={model.cite}>
			<dl className="facts">
				{Object.entries(facts).map(
					([name, value]) =>
						value !== null && (
							<div key={name}>
								<dt>{name}</dt>
								<dd>{value}</dd>
							</div>
						),
				)}
			</dl>
		</Panel>
	);
}

function MemoryPanel({ memory }: { readonly memory: Memory }) {
	const { heads, categories, unit } = memory;
	const drawnHeads = heads.map((head) => ({
		...head,
		halfLives: head.halfLives.map((value) => value ?? Number.POSITIVE_INFINITY),
	}));
	if (heads.length === 0)
		return (
			<Notice kind="empty" title="The memory of the heads is not known">
				<p>It is measured only if the run’s dataset is available.</p>
			</Notice>
		);
	return (
		<FigurePanel
			title="Memory"
			rows={() =>
				heads.flatMap(({ layer, head, halfLives }) =>
					halfLives.map((value, index) => ({
						layer,
						head,
						category: categories[index],
						[`half-life, ${unit}`]: value,
					})),
				)
			}
			draw={(size) => decayFigure({ categories, heads: drawnHeads, unit }, size)}
		/>
	);
}
