import { useEffect, useId, useState } from "react";
import { counted } from "../../../src/evaluate/charts/numbers.js";
import {
	precisionText,
	type Reason,
	type Reasons,
	shownEffects,
	startText,
} from "../../../src/predict/reasons.js";
import {
	type NamedEdit,
	type RiskModel,
	type RiskRequest,
	type Risks,
	reasonsAt,
	reasonYears,
} from "../engine/risks.js";
import { Panel } from "../parts/panel.js";
import { type codeWords, usePatient } from "../state/patient-context.js";

interface ReasonsPanelProps {
	readonly model: RiskModel;
	readonly parameters: number;
	readonly request: RiskRequest;
	/** Whether no later risks are waited for. */
	readonly isLatest: boolean;
	readonly risks: Risks;
}

/** The records that move a chosen risk. Once asked for, they follow the patient, the date and the edits. */
export function ReasonsPanel(props: ReasonsPanelProps) {
	const { model, parameters, request, isLatest } = props;
	const { risks, before } = props.risks;
	const words = usePatient();
	const id = useId();
	const [chosen, setChosen] = useState<number | null>(null);
	const [isAsked, setAsked] = useState(false);
	// First records only, before the edits too: another record has another risk.
	const open = risks
		.filter(({ recordedAt }, at) => recordedAt === null && before?.[at]?.recordedAt == null)
		.map(({ token }) => token);
	const code = chosen !== null && open.includes(chosen) ? chosen : open[0];
	const { latest, isCurrent, progress } = useReasons(
		model,
		parameters,
		request,
		code,
		isAsked && isLatest,
	);
	if (code === undefined) return null;
	const isBusy = isAsked && !isCurrent;
	// Those of another condition would be taken for this one's.
	const outcome = latest?.code === code ? latest.outcome : null;
	const reasons = outcome && "risk" in outcome ? outcome : null;
	const names = latest && reasonNames(latest.request, words);
	return (
		<Panel
			title="Why"
			subtitle={`what each ${request.edits.length > 0 ? "edit adds" : "code’s records add"} to the risk within ${reasonYears} years, in percentage points`}
			className={`reasons-panel${request.edits.length > 0 ? " reasons-of-edits" : ""}`}
			state={reasons && isBusy ? "updating" : "current"}
			tools={
				<div className="reasons-ask">
					<label htmlFor={id} className="hidden">
						Condition to explain
					</label>
					<select id={id} value={code} onChange={(event) => setChosen(Number(event.target.value))}>
						{open.map((token) => (
							<option key={token} value={token}>
								{words.nameOf(token)}
							</option>
						))}
					</select>
					{(!isAsked || isBusy) && (
						<button type="button" onClick={() => setAsked(true)} aria-disabled={isBusy}>
							{isBusy ? `Computing… ${Math.floor(100 * progress)} %` : "Explain"}
						</button>
					)}
				</div>
			}
			rows={reasons && names ? () => reasonRows(reasons, names) : undefined}
		>
			<div aria-live="polite">
				{outcome && "failed" in outcome && (
					<p>The reasons could not be computed: {outcome.failed}</p>
				)}
				{reasons && names && <ReasonList reasons={reasons} names={names} />}
			</div>
		</Panel>
	);
}

interface ReasonListProps {
	readonly reasons: Reasons;
	readonly names: ReasonNames;
}

function ReasonList({ reasons, names }: ReasonListProps) {
	const { risk, start, listed, others } = reasons;
	const digits = pointDigits(reasons);
	const shown = shownEffects(reasons, digits);
	const total = (share: number) => `${(100 * share).toFixed(digits)} %`;
	const rowOf = ({ effect, records }: Reason, name: string, at: number) => {
		const words = pointsWith(shown[at] as number, digits);
		return (
			<li key={name} data-effect={effect}>
				<span className={`change ${/[1-9]/.test(words) ? (effect > 0 ? "up" : "down") : ""}`}>
					{words}
				</span>
				<span className="reason">
					<span className="reason-name" title={name}>
						{name}
					</span>{" "}
					<span className="quiet">{names.recordsOf(records)}</span>
				</span>
			</li>
		);
	};
	return (
		<>
			<ul className="reasons">
				<li data-start={start}>
					<span className="change">{total(start)}</span>
					<span>{names.start}</span>
				</li>
				{listed.map((reason, at) => rowOf(reason, names.nameOf(reason.parts[0] as number), at))}
				{others && rowOf(others, names.othersOf(others.parts.length), listed.length)}
				<li className="reasons-total" data-total={risk}>
					<span className="change">{total(risk)}</span>
					<span>{names.end}</span>
				</li>
			</ul>
			<p className="quiet">
				The rows add up to the risk. {precisionText(reasons)} They show what moves the model’s
				prediction, not what causes a disease.
			</p>
		</>
	);
}

interface Explanation {
	readonly request: RiskRequest;
	readonly code: number;
	readonly outcome: Reasons | { readonly failed: string };
}

/** The reasons of a risk once they are asked for, or earlier ones while they are computed. A new request ends the work. */
function useReasons(
	model: RiskModel,
	parameters: number,
	request: RiskRequest,
	code: number | undefined,
	isAsked: boolean,
): { readonly latest: Explanation | null; readonly isCurrent: boolean; readonly progress: number } {
	const [latest, setLatest] = useState<Explanation | null>(null);
	const [progress, setProgress] = useState(0);
	const isCurrent = latest?.request === request && latest.code === code;
	useEffect(() => {
		if (!isAsked || code === undefined) return;
		const controller = new AbortController();
		const { signal } = controller;
		setProgress(0);
		const onProgress = (share: number) => signal.aborted || setProgress(share);
		reasonsAt(model, request, code, { parameters, onProgress, signal })
			.catch((error: Error) => ({ failed: error.message }))
			.then((outcome) => signal.aborted || setLatest({ request, code, outcome }));
		return () => controller.abort();
	}, [model, parameters, request, code, isAsked]);
	return { latest, isCurrent, progress };
}

/** Digits after the point of percentages, the same for all rows; `shownEffects` of them add up as shown. */
export const pointDigits = ({ risk, start, listed, others }: Reasons): number =>
	Math.max(risk, start, ...[...listed, ...(others ? [others] : [])].map(sizeOf)) >= 0.0995 ? 1 : 2;

const sizeOf = ({ effect }: Reason): number => Math.abs(effect);

/** A change of a probability in percentage points: +1.20, −0.35, 0.00. */
export function pointsWith(change: number, digits: number): string {
	const size = Math.abs(100 * change).toFixed(digits);
	return Number(size) === 0 ? size : `${change > 0 ? "+" : "−"}${size}`;
}

type ReasonNames = ReturnType<typeof reasonNames>;

/** The names in the reasons of a first record: codes or, where a history is edited, edits. */
export function reasonNames(
	{ history, sex, edits }: Pick<RiskRequest, "history" | "sex" | "edits">,
	{ nameOf, codeOf }: ReturnType<typeof codeWords>,
) {
	const isEdited = edits.length > 0;
	const { birthEvents } = history;
	return {
		start: startText({ sex, birthEvents, isRecorded: false, isEdited }),
		nameOf: isEdited ? (place: number) => (edits[place] as NamedEdit).name : nameOf,
		/** The code of a part; empty for an edit. */
		codeOf: isEdited ? () => "" : codeOf,
		/** `3 records`; empty for an edit, which is of one. */
		recordsOf: (count: number) => (isEdited ? "" : counted(count, "record")),
		/** Of parts that go together: `3 other codes`. */
		othersOf: (count: number) => counted(count, isEdited ? "other edit" : "other code"),
		end: `risk within ${reasonYears} years${isEdited ? " after the edits" : ""}`,
	};
}

export function reasonRows({ risk, start, listed, others }: Reasons, names: ReasonNames) {
	const rowOf = (code: string, name: string, { records, effect, error }: Partial<Reason>) => ({
		code,
		name,
		records,
		effect,
		"standard error": error,
	});
	return [
		rowOf("", names.start, { effect: start }),
		...listed.map((reason) => {
			const part = reason.parts[0] ?? 0;
			return rowOf(names.codeOf(part), names.nameOf(part), reason);
		}),
		...(others ? [rowOf("", names.othersOf(others.parts.length), others)] : []),
		rowOf("", names.end, { effect: risk }),
	];
}
