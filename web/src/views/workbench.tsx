import { type Dispatch, useMemo } from "react";
import type { RatesByAgeAndSex } from "../../../src/data/cohort/age-sex-rates.js";
import type { Vocabulary } from "../../../src/data/cohort/vocabulary.js";
import type { Clock } from "../../../src/evaluate/charts/clock.js";
import { percent } from "../../../src/evaluate/charts/numbers.js";
import type { Scoring } from "../../../src/model/train/finetune/classifier.js";
import type { RunningExport } from "../../../src/predict/browser/open-export.js";
import { knownOn, outsideReason } from "../../../src/predict/histories.js";
import type { About } from "../data/contract.js";
import { historyOf, type Patient } from "../data/patient.js";
import { type Loaded, loadedValue } from "../data/use-loaded.js";
import { idleMilliseconds, useAnswer } from "../engine/answers.js";
import { useHistoryStates } from "../engine/history-states.js";
import { longestDays, type RiskRequest, riskSource } from "../engine/risks.js";
import { Button } from "../parts/button.js";
import { useMedia } from "../parts/hooks.js";
import { Announcement, Notice } from "../parts/notice.js";
import { momentText } from "../parts/words.js";
import { editedEvents, libraryEdit } from "../state/edits.js";
import { PatientProvider, usePatient } from "../state/patient-context.js";
import type { Action, ExplorerState } from "../state/reducer.js";
import { AnswerPanel } from "./answer-panel.js";
import { dateWarnings } from "./date-warnings.js";
import { NewDiagnosesPanel } from "./new-diagnoses-panel.js";
import { PeoplePanel } from "./people-panel.js";
import { ReasonsPanel } from "./reasons-panel.js";
import { RiskPanel } from "./risk-panel.js";
import { riskWords } from "./risk-words.js";
import { TimelinePanel } from "./timeline-panel.js";
import { editWords, WhatIfPanel } from "./what-if-panel.js";

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
}

/** The colour of a code with a number; dark enough for text. */
const curveColour = (number: number): string => `var(--curve-${(number % 8) + 1})`;

/** Both columns stand side by side, as in page.css. */
const isWide = "(min-width: 1320px)";

/** The panels of one patient and date: the history, the risks and the edits that change them. */
export function Workbench(props: WorkbenchProps) {
	const { patient, explorer, dispatch, vocabulary, clock, modelState, reach, rates } = props;
	const { date, codes, colours, edits } = explorer;
	const model = loadedValue(modelState);
	const calls = model?.calls ?? null;
	const manifest = model?.opened.manifest ?? null;
	const longest = manifest ? longestDays(manifest.config) : undefined;

	const original = useMemo(() => historyOf(patient, patient.events), [patient]);
	const { events, history } = useMemo(() => {
		if (edits.length === 0) return { events: patient.events, history: original };
		const events = editedEvents(patient.events, edits);
		return { events, history: historyOf(patient, events) };
	}, [patient, edits, original]);
	const isEdited = history !== original;
	const { states, isReady } = useHistoryStates(calls, original, history);

	const riskModel = useMemo(
		() => (calls && longest !== undefined ? { calls, longest, rates } : null),
		[calls, longest, rates],
	);
	const request = useMemo(
		(): RiskRequest => ({
			history,
			date,
			sex: patient.sex,
			codes,
			original: isEdited ? original : null,
			edits: edits.map((edit) => ({
				edit: libraryEdit(edit, patient),
				name: editWords(edit, patient, vocabulary, clock),
			})),
		}),
		[history, date, patient, codes, isEdited, original, edits, vocabulary, clock],
	);
	const computeRisks = useMemo(
		() => riskModel && riskSource(riskModel, vocabulary, states?.startFor),
		[riskModel, vocabulary, states],
	);
	const risks = useAnswer(request, computeRisks);
	const latest = risks.latest;
	const current = risks.isCurrent && latest ? latest.result : null;

	const warnings = useMemo(
		() => dateWarnings({ patient, events, date, reach }),
		[patient, events, date, reach],
	);
	const failure =
		modelState.state === "error"
			? { title: "The model could not be loaded", message: modelState.message }
			: risks.failure !== null
				? { title: "The prediction failed", message: risks.failure }
				: null;
	const colourOf = (token: number) =>
		codes.includes(token) ? curveColour(colours.get(token) ?? 0) : undefined;
	const scoring = manifest?.task?.scoring;

	const historyColumn = (
		<div key="history" className="answer-history">
			<TimelinePanel />
			{/* Warnings appear and disappear while the date is dragged, so they stay below the timeline. */}
			{warnings.length > 0 && (
				<Notice kind="warning" title="These predictions may be unreliable">
					{warnings.map((words) => (
						<p key={words}>{words}</p>
					))}
				</Notice>
			)}
			{riskModel && <NewDiagnosesPanel />}
		</div>
	);
	const riskColumn = (
		<div key="risk" className="answer-risk">
			{scoring && <LabelPanel scoring={scoring} />}
			{manifest ? <RiskPanel /> : !failure && <Notice kind="loading" title="Loading the model…" />}
			<WhatIfPanel />
			<ReasonsPanel />
		</div>
	);
	const isCurrent = manifest !== null && (!riskModel || risks.isCurrent);
	const spoken = current && riskWords(current, date, vocabulary, clock);
	const panels = { patient, events, explorer, dispatch, vocabulary, clock, colourOf };
	return (
		<PatientProvider value={{ ...panels, model, riskModel, request, answer: risks }}>
			<div className="workbench" data-current={isCurrent} data-ready={isReady} data-date={date}>
				{failure && (
					<Notice kind="error" title={failure.title}>
						<p>{failure.message}</p>
						{latest && (
							<p>The numbers below are still those of {momentText(clock, latest.request.date)}.</p>
						)}
						<Button onClick={props.onRetry}>Open the model again</Button>
					</Notice>
				)}
				{/* In one column, the risks come first. */}
				<div className="answer">
					{useMedia(isWide) ? [historyColumn, riskColumn] : [riskColumn, historyColumn]}
				</div>
				<PeoplePanel />
				<Announcement words={spoken === null ? "" : `${spoken} ${warnings.join(" ")}`} />
			</div>
		</PatientProvider>
	);
}

/** The probability of the label that the model was fine-tuned to. */
function LabelPanel({ scoring }: { readonly scoring: Scoring }) {
	const { clock, request, model } = usePatient();
	const calls = model?.calls;
	const { task, definition, source, prevalence } = scoring;
	const compute = useMemo(
		() =>
			calls
				? async ({ history, original, date }: RiskRequest) => {
						const histories = [history, ...(original ? [original] : [])];
						const [probability = Number.NaN, before = null] = await calls.scoreTask(
							histories.map((one) => knownOn(one, date)),
						);
						return { probability, before };
					}
				: null,
		[calls],
	);
	const answer = useAnswer(request, compute, idleMilliseconds);
	const result = answer.latest?.result;
	const { history, date } = answer.latest?.request ?? request;
	const outside = result && outsideReason(scoring, knownOn(history, date));
	return (
		<AnswerPanel
			title={`Label: ${task}`}
			subtitle={`probability of ${definition}, from the records up to ${momentText(clock, date)}`}
			className="label-panel"
			answer={answer}
			failure="The probability could not be computed"
			rows={result && (() => [{ task, probability: result.probability }])}
		>
			{({ probability, before }) => (
				<>
					<p data-probability={probability}>
						<strong>{percent(probability)}</strong>
						{before !== null && <span className="quiet"> was {percent(before)}</span>}
						<span className="quiet">
							; {percent(prevalence)} of the training labels are positive
							{source !== undefined && `; defined by: ${source}`}
						</span>
					</p>
					{outside && <p>The patient is {outside}. The probability does not apply.</p>}
				</>
			)}
		</AnswerPanel>
	);
}
