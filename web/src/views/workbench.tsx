import { type Dispatch, type ReactNode, useMemo } from "react";
import type { BrowserModel } from "../../../src/browser/index.js";
import type { Vocabulary } from "../../../src/cohort/vocabulary.js";
import type { Clock } from "../../../src/figures/clock.js";
import { percent } from "../../../src/figures/numbers.js";
import { numberedRises, RiskChart } from "../charts/risk-chart.js";
import { wholeDomain } from "../charts/time-scale.js";
import { Timeline } from "../charts/timeline.js";
import type { Mark } from "../charts/timeline-layout.js";
import { historyOf, type Patient } from "../data/patient.js";
import { topCount, yearDays } from "../engine/panels.js";
import { useAnswers } from "../engine/use-answers.js";
import type { ModelState } from "../engine/use-model.js";
import { Notice } from "../parts/notice.js";
import { Panel } from "../parts/panel.js";
import { momentText } from "../parts/words.js";
import { editedEvents } from "../state/edits.js";
import { type Action, horizons, type Looking } from "../state/reducer.js";
import { BarsDrawing } from "./bars-drawing.js";
import { CameTable, foreseenText } from "./came-table.js";
import { CodeChips } from "./code-chips.js";
import { curveColour } from "./colours.js";
import { DriversList } from "./drivers-list.js";
import { EditBar } from "./edit-bar.js";
import { LikelyList } from "./likely-list.js";
import { RisesList } from "./rises-list.js";

interface WorkbenchProps {
	readonly patient: Patient;
	readonly looking: Looking;
	readonly dispatch: Dispatch<Action>;
	readonly vocabulary: Vocabulary;
	readonly clock: Clock;
	readonly modelState: ModelState;
	readonly onRetry: () => void;
	readonly editing: boolean;
}

const none: readonly [] = [];

/** One patient, one date: what was, what may come, and what came. With `editing`, what if. */
export function Workbench(props: WorkbenchProps) {
	const { patient, looking, dispatch, vocabulary, clock, modelState, onRetry, editing } = props;
	const { date, codes, horizonYears, zoom } = looking;
	const edits = editing ? looking.edits : none;
	const model: BrowserModel | null = modelState.state === "ready" ? modelState.model : null;
	const horizon = (horizonYears * yearDays) / clock.unitDays;
	const events = useMemo(
		() => (edits.length > 0 ? editedEvents(patient.events, edits) : patient.events),
		[patient, edits],
	);
	const { answered, error, ready } = useAnswers(model, patient, events, date, horizon, zoom);
	const isEdited = edits.length > 0;
	const panels = answered?.panels ?? null;
	const base = isEdited ? (answered?.before ?? null) : null;

	const nameOf = (token: number) =>
		vocabulary.tokens[token]?.name || vocabulary.tokens[token]?.code || "";
	const colourOf = (token: number) => {
		const at = codes.indexOf(token);
		return at < 0 ? undefined : curveColour(at);
	};
	const onCode = (token: number, on: boolean) => dispatch({ type: "code", token, on });
	const history = useMemo(
		() => historyOf(patient, answered?.events ?? events),
		[patient, answered, events],
	);

	const marks = useMemo(() => {
		const later = new Map(panels?.later.map((one) => [one.event.id, one]));
		const editOf = new Map(
			edits.map((edit) =>
				edit.kind === "add"
					? [edit.event.id, "added"]
					: [edit.id, edit.kind === "move" ? "moved" : "removed"],
			),
		);
		const removed = patient.events.filter(({ id }) => editOf.get(id) === "removed");
		return [...events, ...removed].map((event): Mark => {
			const found = later.get(event.id);
			return {
				...event,
				category: vocabulary.tokens[event.token]?.category ?? null,
				fate: event.time < date ? "seen" : !found ? "later" : found.hit ? "hit" : "missed",
				edit: (editOf.get(event.id) as Mark["edit"] | undefined) ?? "none",
			};
		});
	}, [events, patient, panels, edits, date, vocabulary]);
	const whole = useMemo(
		() =>
			wholeDomain(
				patient.events.map(({ time }) => time),
				date,
				horizon,
			),
		[patient, date, horizon],
	);
	const first = patient.events[0]?.time ?? date;
	const last = patient.events.at(-1)?.time ?? date;
	const dates = [patient.birth ?? first, last + (2 * yearDays) / clock.unitDays] as const;

	const describe = (mark: Mark) => {
		const found = panels?.later.find(({ event }) => event.id === mark.id);
		const fate =
			mark.edit === "removed"
				? "removed"
				: mark.fate === "seen"
					? "seen by the model"
					: found
						? `${found.hit ? "foreseen" : "not foreseen"}: rank ${found.rank}, ${percent(found.probability)}`
						: "after the date";
		return `${nameOf(mark.token)}, ${momentText(clock, mark.time)}, ${fate}`;
	};
	const curves = panels
		? codes.map((token, at) => ({
				...panels.curve(token),
				name: nameOf(token),
				colour: curveColour(at),
				base: base?.curve(token),
			}))
		: [];
	const rises = numberedRises(curves);
	const riskWords = curves
		.map(
			({ name, times, risk }) =>
				`${name} ${percent(risk[times.indexOf(panels?.questions.date ?? date)] ?? 0)} at the date, ${percent(risk.at(-1) ?? 0)} after ${horizonYears} years`,
		)
		.join("; ");
	const waiting =
		modelState.state === "error" ? (
			<Notice kind="error" title="The model could not be opened">
				<p>{modelState.message}</p>
				<button type="button" onClick={onRetry}>
					Try again
				</button>
			</Notice>
		) : error ? (
			<Notice kind="error" title="The model could not answer">
				<p>{error}</p>
			</Notice>
		) : (
			<Notice kind="loading" title={model ? "Asking the model…" : "Opening the model…"} />
		);

	const timelinePanel = (
		<Panel
			key="timeline"
			title="Timeline"
			subtitle={<TimelineLegend />}
			drawing
			rows={() => [
				["time_days", "code", "name", "category", "fate", "edit"],
				...marks.map((mark) => [
					Math.round(mark.time * clock.unitDays * 100) / 100,
					vocabulary.tokens[mark.token]?.code ?? "",
					nameOf(mark.token),
					mark.category,
					mark.fate,
					mark.edit,
				]),
			]}
		>
			<Timeline
				marks={marks}
				clock={clock}
				date={date}
				whole={whole}
				zoom={zoom}
				dates={dates}
				colourOf={colourOf}
				describe={describe}
				onDate={(to) => dispatch({ type: "date", date: to })}
				onZoom={(to) => dispatch({ type: "zoom", zoom: to })}
				{...(editing && {
					onMove: (id: string, time: number) => dispatch({ type: "move", id, time }),
					onRemove: (id: string) => dispatch({ type: "remove", id }),
				})}
			/>
		</Panel>
	);
	const riskPanel = (
		<Panel
			key="risk"
			title="Risk"
			subtitle={`probability of each code, if something is recorded at that time; ${isEdited ? "dotted: as it was; " : ""}dashed: after the date`}
			className="risk-panel"
			drawing={curves.length > 0}
			tools={
				<label className="horizon">
					look ahead{" "}
					<select
						value={horizonYears}
						onChange={(event) => dispatch({ type: "horizon", years: Number(event.target.value) })}
					>
						{horizons.map((years) => (
							<option key={years} value={years}>
								{years} {years === 1 ? "year" : "years"}
							</option>
						))}
					</select>
				</label>
			}
			rows={() => [
				[
					"time_days",
					...curves.flatMap(({ name, base }) => [name, ...(base ? [`${name} (as it was)`] : [])]),
				],
				...(curves[0]?.times ?? []).map((time, at) => [
					Math.round(time * clock.unitDays * 100) / 100,
					...curves.flatMap(({ risk, base }) => [
						risk[at] as number,
						...(base ? [base.risk[at] as number] : []),
					]),
				]),
			]}
		>
			{panels ? (
				<>
					<CodeChips
						curves={curves}
						date={panels.questions.date}
						horizonYears={horizonYears}
						vocabulary={vocabulary}
						onCode={onCode}
					/>
					{curves.length > 0 ? (
						<>
							<RiskChart
								curves={curves}
								rises={rises}
								clock={clock}
								date={panels.questions.date}
								domain={zoom ?? whole}
								description={`Risk over time. ${riskWords}.`}
							/>
							<Why folded={editing}>
								<RisesList
									rises={rises}
									curves={curves}
									history={history}
									vocabulary={vocabulary}
									clock={clock}
								/>
								{model && (
									<DriversList
										model={model}
										history={history}
										date={date}
										curves={curves}
										vocabulary={vocabulary}
										clock={clock}
									/>
								)}
							</Why>
						</>
					) : (
						<Notice kind="empty" title="No code is chosen">
							<p>Choose one above, or click one of the likeliest codes.</p>
						</Notice>
					)}
				</>
			) : (
				waiting
			)}
		</Panel>
	);
	return (
		<div
			className="workbench"
			data-answered={panels?.questions.date === date && answered?.events === events}
			data-ready={ready}
			data-date={date}
		>
			{editing && (
				<Panel
					title="What would be different"
					className="edit-panel"
					subtitle={
						isEdited && answered ? (
							<span className="speed" data-milliseconds={answered.milliseconds}>
								answered in {Math.round(answered.milliseconds)} ms
								{answered.pass ? `, from event ${answered.pass.from + 1} on` : ""}
							</span>
						) : (
							"the history can be changed here; nothing is saved"
						)
					}
				>
					<EditBar
						patient={patient}
						edits={edits}
						clock={clock}
						date={date}
						vocabulary={vocabulary}
						onAdd={(token, time) => dispatch({ type: "add", token, time })}
						onUndo={(edit) => dispatch({ type: "undo", edit })}
						onReset={() => dispatch({ type: "reset" })}
					/>
				</Panel>
			)}
			{editing ? [riskPanel, timelinePanel] : [timelinePanel, riskPanel]}
			<div className="two">
				<Panel
					title="Most likely at the date"
					subtitle={`${momentText(clock, date)}; ${isEdited ? "with the change to the history as it was, in points" : "click a code to draw its risk"}`}
					drawing={panels !== null}
					rows={() => [
						["rank", "code", "name", "probability"],
						...(panels?.top ?? []).map(({ token, probability }, at) => [
							at + 1,
							vocabulary.tokens[token]?.code ?? "",
							nameOf(token),
							probability,
						]),
					]}
				>
					{panels ? (
						<>
							<LikelyList
								panels={panels}
								base={base}
								vocabulary={vocabulary}
								codes={codes}
								colourOf={colourOf}
								onCode={onCode}
							/>
							<BarsDrawing
								title={`Most likely at ${momentText(clock, date)}`}
								bars={panels.top.map(({ token, probability }) => ({
									name: nameOf(token),
									value: probability,
								}))}
							/>
						</>
					) : (
						waiting
					)}
				</Panel>
				<Panel
					title="What came, and was it among the ten likeliest"
					subtitle={
						panels
							? foreseenText(panels)
							: `recorded after the date, and whether it was among the ${topCount} likeliest`
					}
					rows={() => [
						["days_after", "code", "name", "rank", "probability", "foreseen"],
						...(panels?.later ?? []).map(({ event, rank, probability, hit }) => [
							Math.round((event.time - date) * clock.unitDays * 100) / 100,
							vocabulary.tokens[event.token]?.code ?? "",
							nameOf(event.token),
							rank,
							probability,
							hit ? "yes" : "no",
						]),
					]}
				>
					{panels ? <CameTable panels={panels} vocabulary={vocabulary} clock={clock} /> : waiting}
				</Panel>
			</div>
		</div>
	);
}

/** Where risks rose, and why; folded away where there is more to do than to read. */
function Why({ folded, children }: { readonly folded: boolean; readonly children: ReactNode }) {
	if (!folded) return <div className="why">{children}</div>;
	return (
		<details>
			<summary>Where it rose, and what moves it</summary>
			<div className="why">{children}</div>
		</details>
	);
}

function TimelineLegend() {
	return (
		<span className="legend">
			<span>
				<span className="dot" aria-hidden="true" /> seen by the model
			</span>
			<span>
				<span className="dot dot-hit" aria-hidden="true" /> later, among the {topCount} likeliest
			</span>
			<span>
				<span className="dot dot-missed" aria-hidden="true" /> later, not among them
			</span>
			<span>
				<span className="dot dot-beyond" aria-hidden="true" /> beyond the horizon
			</span>
		</span>
	);
}
