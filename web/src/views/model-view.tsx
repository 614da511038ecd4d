import { type ReactNode, useId, useMemo, useState } from "react";
import { thousands } from "../../../src/base/thousands.js";
import { specialCount } from "../../../src/data/cohort/vocabulary.js";
import { counted } from "../../../src/evaluate/charts/numbers.js";
import { svgOf } from "../../../src/evaluate/charts/svg.js";
import { darkRules, type FigureSize, theme } from "../../../src/evaluate/charts/theme.js";
import {
	calibrationSection,
	forecastSection,
	labelledSections,
	memoryFigure,
} from "../../../src/evaluate/report/evaluation-sections.js";
import { Markup, type Section, type SectionFigure } from "../../../src/evaluate/report/markup.js";
import { inOrder, shownHorizons, taskOf } from "../../../src/evaluate/report/measures.js";
import { onsetFindings } from "../../../src/evaluate/report/onset-findings.js";
import {
	conditionSections,
	type OnsetEvaluation,
	onsetOf,
	onsetSections,
} from "../../../src/evaluate/report/onset-sections.js";
import type { About, Evaluations, Memory } from "../data/contract.js";
import { type Loaded, useJson } from "../data/use-loaded.js";
import { useWidth } from "../parts/hooks.js";
import { markdownMarkup } from "../parts/markdown.js";
import { Notice, WhenLoaded } from "../parts/notice.js";
import { Panel } from "../parts/panel.js";
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

export function Measured({ evaluations }: Evaluations) {
	const onset = onsetOf(evaluations);
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
					<Sections
						sections={[
							forecastSection(others),
							...labelledSections(others),
							...calibrationSection(others),
						]}
					/>
				</Folded>
			)}
		</>
	);
}

/** Whether risks can be trusted: discrimination, calibration, subgroups, decisions, and every condition. */
function RiskQuality({ evaluation }: { readonly evaluation: OnsetEvaluation }) {
	const { onset, patients, split, tooFew } = evaluation;
	const [years, setYears] = useState(shownHorizons(onset).at(-1) ?? 5);
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
				<Sections sections={onsetSections(evaluation, { years })} />
			</div>
			<Sections sections={conditionSections(evaluation, years)} />
		</>
	);
}

/** Sections of the report as panels. `html` escapes all texts. */
const Sections = ({ sections }: { readonly sections: readonly Section[] }) =>
	sections.map(({ id, title, blocks, rows }) => {
		const figure = blocks.find((block) => "draw" in block);
		return (
			<Panel
				key={id}
				title={title}
				subtitle={figure?.caption}
				rows={rows}
				drawing={figure !== undefined}
			>
				{blocks.map((block, index) =>
					block instanceof Markup ? (
						<div key={index} className="section" dangerouslySetInnerHTML={{ __html: block.text }} />
					) : (
						<Drawing key={index} figure={block} />
					),
				)}
			</Panel>
		);
	});

/** A figure of the report, in the size that fits. */
function Drawing({ figure: { draw, sizes = [] } }: { readonly figure: SectionFigure }) {
	const [ref, width] = useWidth<HTMLElement>();
	const ids = useId();
	const fitting: FigureSize = width < 480 ? "narrow" : width < theme.width ? "half" : "wide";
	const size = fitting === "half" && !sizes.includes(fitting) ? "narrow" : fitting;
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
		<Sections
			sections={[
				{
					id: "memory",
					title: "Memory",
					blocks: [memoryFigure({ categories, heads: drawnHeads, unit })],
					rows: () =>
						heads.flatMap(({ layer, head, halfLives }) =>
							halfLives.map((value, index) => ({
								layer,
								head,
								category: categories[index],
								[`half-life, ${unit}`]: value,
							})),
						),
				},
			]}
		/>
	);
}
