import { type Dispatch, useCallback, useMemo, useRef, useState } from "react";
import { yearDays } from "../../../src/base/time.js";
import type { RatesByAgeAndSex } from "../../../src/data/cohort/age-sex-rates.js";
import type { Vocabulary } from "../../../src/data/cohort/vocabulary.js";
import type { Clock } from "../../../src/evaluate/charts/clock.js";
import type { RunningExport } from "../../../src/predict/browser/open-export.js";
import { wholeDomain } from "../charts/time-scale.js";
import type { About } from "../data/about.js";
import { historyOf, type Patient } from "../data/patient.js";
import type { Loaded } from "../data/use-loaded.js";
import type { QueryRunner } from "../engine/query-runner.js";
import { longestDays, type StartFor } from "../engine/risks.js";
import { usePredictions } from "../engine/use-predictions.js";
import { useRisks } from "../engine/use-risks.js";
import { Announcement } from "../parts/announcement.js";
import { Notice } from "../parts/notice.js";
import { useMedia } from "../parts/use-media.js";
import { momentText } from "../parts/words.js";
import { editedEvents, libraryEdit } from "../state/edits.js";
import type { Action, ExplorerState } from "../state/reducer.js";
import { codeName } from "./code-name.js";
import { curveColour } from "./colours.js";
import { dateWarnings } from "./date-warnings.js";
import { EditPanel } from "./edit-panel.js";
import { editWords } from "./edit-words.js";
import { LabelPanel } from "./label-panel.js";
import { LikelyPanel } from "./likely-panel.js";
import { NewDiagnosesPanel } from "./new-diagnoses-panel.js";
import { ObservedPanel } from "./observed-panel.js";
import { PeoplePanel } from "./people-panel.js";
import { predictionWords } from "./prediction-words.js";
import { ProbabilityPanel } from "./probability-panel.js";
import { ReasonsPanel } from "./reasons-panel.js";
import { RiskPanel } from "./risk-panel.js";
import { riskWords } from "./risk-words.js";
import { TimelinePanel } from "./timeline-panel.js";

interface WorkbenchProps {
	readonly patient: Patient;
	readonly explorer: ExplorerState;
	readonly dispatch: Dispatch<Action>;
	readonly vocabulary: Vocabulary;
	readonly clock: Clock;
	readonly modelState: Loaded<RunningExport>;
	/** The extent of the training histories; null until it is known. */
	readonly reach: About["dataset"]["reach"];
	/** Rates of first records by age and sex; null if there are none, or until they are known. */
	readonly rates: RatesByAgeAndSex | null;
	readonly onRetry: () => void;
	readonly editing: boolean;
}

const none: readonly [] = [];

/** Both columns stand side by side, as in page.css. */
const isWide = "(min-width: 1320px)";

/** The panels of one patient and date: history, predictions, later events; with `editing`, the edits. */
export function Workbench(props: WorkbenchProps) {
	const { patient, explorer, dispatch, vocabulary, clock, modelState, reach, rates, editing } =
		props;
	const { date, codes, colours, horizonYears, zoom } = explorer;
	const edits = editing ? explorer.edits : none;
	const calls = modelState.state === "ready" ? modelState.value.calls : null;
	const horizon = horizonYears * yearDays;
	const events = useMemo(
		() => (edits.length > 0 ? editedEvents(patient.events, edits) : patient.events),
		[patient, edits],
	);
	const opened = modelState.state === "ready" ? modelState.value.opened : null;
	const longest = opened ? longestDays(opened.manifest.config) : undefined;
	const original = useMemo(() => historyOf(patient, patient.events), [patient]);
	const history = useMemo(
		() => (events === patient.events ? original : historyOf(patient, events)),
		[patient, events, original],
	);
	const isEdited = history !== original;
	const riskModel = useMemo(
		() => (calls && longest !== undefined ? { calls, longest, rates } : null),
		[calls, longest, rates],
	);
	const riskRequest = useMemo(
		() => ({
			...{ history, date, sex: patient.sex, codes },
			original: isEdited ? original : null,
			edits: edits.map((edit) => ({
				edit: libraryEdit(edit, patient),
				name: editWords(edit, patient, vocabulary, clock),
			})),
		}),
		[history, date, patient, codes, isEdited, original, edits, vocabulary, clock],
	);
	const runner = useRef<QueryRunner | null>(null);
	const startFor: StartFor = useCallback(
		({ history, date }) => runner.current?.startFor(history, date) ?? null,
		[],
	);
	// Before the predictions below it, which share the worker.
	const risks = useRisks(riskModel, riskRequest, vocabulary, startFor);
	const { result, isCurrent, error, ready } = usePredictions(
		runner,
		calls,
		patient,
		events,
		date,
		horizon,
		zoom,
	);
	// In one column, edits and the risks that they change come first.
	const editsFirst = !useMedia(isWide) && editing;
	const panels = result?.panels ?? null;
	const base = result?.before ?? null;

	const whole = useMemo(() => {
		const times = events.map(({ time }) => time);
		return wholeDomain(times, date, horizon);
	}, [events, date, horizon]);
	// The axis must not move under a pointer that drags something.
	const [held, setHeld] = useState<readonly [number, number] | null>(null);
	const domain = zoom ?? held ?? whole;

	const shown = useMemo(() => {
		if (!result) return null;
		const { request, panels, before } = result;
		return {
			date: request.date,
			until: panels.queries.until,
			horizonYears: Math.round(request.horizon / yearDays),
			history: historyOf(patient, request.events),
			curves: codes.map((token) => ({
				...panels.curve(token),
				name: codeName(vocabulary, token),
				colour: curveColour(colours.get(token) ?? 0),
				base: before?.curve(token),
			})),
		};
	}, [result, patient, codes, colours, vocabulary, clock]);
	const warnings = useMemo(
		() => dateWarnings({ patient, events, date, horizon, reach }),
		[patient, events, date, horizon, clock, reach],
	);
	const failure =
		modelState.state === "error"
			? { title: "The model could not be loaded", message: modelState.message }
			: error !== null && !isCurrent
				? { title: "The prediction failed", message: error }
				: null;
	const state = isCurrent || !result ? "current" : failure ? "failed" : "updating";
	// The reason for missing predictions is given once, above all panels.
	const waiting =
		modelState.state === "error" || error !== null ? (
			<Notice kind="empty" title="No predictions">
				<p>See the message above.</p>
			</Notice>
		) : (
			<Notice kind="loading" title={calls ? "Computing…" : "Loading the model…"} />
		);
	const colourOf = (token: number) =>
		codes.includes(token) ? curveColour(colours.get(token) ?? 0) : undefined;
	const onCode = (token: number, on: boolean) => dispatch({ type: "code", token, on });

	const chosenRisks =
		risks?.request === riskRequest && "risks" in risks.outcome ? risks.outcome.risks : none;
	const futureSource = useMemo(() => {
		if (!calls || !opened || longest === undefined) return null;
		const repeats = opened.manifest.records.dedup === "none";
		return { calls, longest, repeats, vocabulary };
	}, [calls, opened, longest, vocabulary]);
	const { before, after } = explorer.undone;
	const steps = useMemo(
		() => ({
			onUndo: before.length > 0 ? () => dispatch({ type: "undo" }) : null,
			onRedo: after.length > 0 ? () => dispatch({ type: "redo" }) : null,
		}),
		[before, after, dispatch],
	);

	const timelinePanel = (
		<TimelinePanel
			key="timeline"
			{...{ history, futureSource }}
			risks={chosenRisks}
			{...{ state, patient, events, edits, panels, vocabulary, clock, date, whole, domain, zoom }}
			colourOf={colourOf}
			onDate={(to) => dispatch({ type: "date", date: to })}
			onZoom={(to) => dispatch({ type: "zoom", zoom: to })}
			onHold={(on) => setHeld(on ? domain : null)}
			{...(editing && {
				onMove: (id: string, time: number) => dispatch({ type: "move", id, time }),
				onRemove: (id: string) => dispatch({ type: "remove", id }),
			})}
		/>
	);
	const warningsNotice = warnings.length > 0 && (
		<Notice key="warnings" kind="warning" title="These predictions may be unreliable">
			{warnings.map((words) => (
				<p key={words}>{words}</p>
			))}
		</Notice>
	);
	const riskPanel = opened && (
		<RiskPanel
			key="risk"
			{...{ longest, vocabulary, clock, colourOf, onCode }}
			request={riskRequest}
			answer={risks}
			simulation={patient.simulation}
		/>
	);
	const newDiagnoses = longest !== undefined && (
		<NewDiagnosesPanel
			key="new"
			{...{ vocabulary, colourOf, onCode }}
			request={riskRequest}
			answer={risks}
		/>
	);
	const currentRisks =
		risks?.request === riskRequest && "risks" in risks.outcome ? risks.outcome : null;
	const spoken = riskModel
		? currentRisks && riskWords(currentRisks, date, vocabulary, clock)
		: panels && shown && isCurrent
			? predictionWords(panels, shown.curves, shown.horizonYears, vocabulary, clock)
			: null;
	const scoring = opened?.manifest.task?.scoring;
	const labelPanel = scoring && (
		<LabelPanel
			key="label"
			{...{ scoring, shown, calls, clock }}
			original={isEdited ? original : null}
		/>
	);
	const probabilityPanel = (
		<ProbabilityPanel
			key="probability"
			{...{ state, shown, waiting, calls, vocabulary, clock, domain, horizonYears, editing }}
			onCode={onCode}
			picks={longest === undefined}
			onHorizon={(years) => dispatch({ type: "horizon", years })}
		/>
	);
	const historyColumn = (
		<div key="history" className="answer-history">
			{timelinePanel}
			{warningsNotice}
			{newDiagnoses}
		</div>
	);
	const riskColumn = (
		<div key="risk" className="answer-risk">
			{editing && (
				<EditPanel
					{...{ patient, edits, date, vocabulary, clock }}
					onAdd={(token, time) => dispatch({ type: "add", token, time })}
					onDrop={(edit) => dispatch({ type: "drop", edit })}
					{...steps}
					onReset={() => dispatch({ type: "reset" })}
				/>
			)}
			{labelPanel}
			{riskPanel}
			{riskModel && opened && risks && "risks" in risks.outcome && (
				<ReasonsPanel
					model={riskModel}
					parameters={opened.manifest.weights.parameters}
					request={risks.request}
					isLatest={risks.request === riskRequest}
					risks={risks.outcome.risks}
					before={risks.outcome.before}
					vocabulary={vocabulary}
				/>
			)}
		</div>
	);
	return (
		<div className="workbench" data-current={isCurrent} data-ready={ready} data-date={date}>
			{failure && (
				<Notice kind="error" title={failure.title}>
					<p>{failure.message}</p>
					{shown && <p>The numbers below are still those of {momentText(clock, shown.date)}.</p>}
					<button type="button" onClick={props.onRetry}>
						Open the model again
					</button>
				</Notice>
			)}
			{/* Warnings appear and disappear while the date is dragged, so they stay below the timeline. */}
			<div className="answer">
				{editsFirst ? [riskColumn, historyColumn] : [historyColumn, riskColumn]}
			</div>
			{calls && opened && longest !== undefined && (
				<PeoplePanel
					{...{ calls, vocabulary, colourOf }}
					request={riskRequest}
					risks={chosenRisks}
					simulated={opened.manifest.population !== undefined}
				/>
			)}
			{probabilityPanel}
			<div className="two">
				<LikelyPanel
					{...{ state, panels, base, waiting, vocabulary, clock, codes, colourOf, onCode }}
				/>
				<ObservedPanel {...{ state, panels, waiting, vocabulary, clock }} />
			</div>
			<Announcement words={spoken === null ? "" : `${spoken} ${warnings.join(" ")}`} />
		</div>
	);
}
