import { useEffect, useId, useState } from "react";
import { counted } from "../../../src/evaluate/charts/numbers.js";
import {
	precisionText,
	type Reason,
	type Reasons,
	shownEffects,
	startText,
} from "../../../src/predict/reasons.js";
import { type NamedEdit, type RiskRequest, reasonsAt, reasonYears } from "../engine/risks.js";
import { Button } from "../parts/button.js";
import { Panel } from "../parts/panel.js";
import { type codeWords, usePatient } from "../state/patient-context.js";

/** The records that move a chosen risk. Once asked for, they follow the patient, the date and the edits. */
export function ReasonsPanel() {
	const words = usePatient();
	const { latest: shown, isCurrent: isLatest } = words.answer;
	const request = shown?.request ?? words.request;
	const { risks = [], before } = shown?.result ?? {};
	const id = useId();
	const [chosen, setChosen] = useState<number | null>(null);
	const [isAsked, setAsked] = useState(false);
	// First records only, before the edits too: another record has another risk.
	const open = risks
		.filter(({ recordedAt }, at) => recordedAt === null && before?.[at]?.recordedAt == null)
		.map(({ token }) => token);
	const code = chosen !== null && open.includes(chosen) ? chosen : open[0];
	const { latest, isCurrent, progress } = useReasons(request, code, isAsked && isLatest);
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
						<Button onClick={() => setAsked(true)} aria-disabled={isBusy}>
							{isBusy ? `Computing… ${Math.floor(100 * progress)} %` : "Explain"}
						</Button>
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

function ReasonList({
	reasons,
	names,
}: {
	readonly reasons: Reasons;
	readonly names: ReasonNames;
}) {
	const digits = pointDigits(reasons);
	const shown = shownEffects(reasons, digits);
	const rows = reasonRows(reasons, names);
	const [start, end] = [rows[0], rows.at(-1)].map((row) => (
		<>
			<span className="change">{`${(100 * (row?.effect ?? 0)).toFixed(digits)} %`}</span>
			<span>{row?.name}</span>
		</>
	));
	return (
		<>
			<ul className="reasons">
				<li data-start={reasons.start}>{start}</li>
				{rows.slice(1, -1).map(({ name, records = 0, effect = 0 }, at) => {
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
				})}
				<li className="reasons-total" data-total={reasons.risk}>
					{end}
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
function useReasons(request: RiskRequest, code: number | undefined, isAsked: boolean) {
	const { model, riskModel } = usePatient();
	const parameters = model?.opened.manifest.weights.parameters;
	const [latest, setLatest] = useState<Explanation | null>(null);
	const [progress, setProgress] = useState(0);
	const isCurrent = latest?.request === request && latest.code === code;
	useEffect(() => {
		if (!isAsked || code === undefined || !riskModel || parameters === undefined) return;
		const controller = new AbortController();
		const { signal } = controller;
		setProgress(0);
		const onProgress = (share: number) => signal.aborted || setProgress(share);
		reasonsAt(riskModel, request, code, { parameters, onProgress, signal })
			.catch((error: Error) => ({ failed: error.message }))
			.then((outcome) => signal.aborted || setLatest({ request, code, outcome }));
		return () => controller.abort();
	}, [riskModel, parameters, request, code, isAsked]);
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
