import { useId, useState } from "react";
import type { Vocabulary } from "../../../src/data/cohort/vocabulary.js";
import { precisionText, type Reasons, shownEffects } from "../../../src/predict/reasons.js";
import { reasonYears } from "../engine/reasons.js";
import type { CodeRisk, RiskModel } from "../engine/risks.js";
import { useReasons } from "../engine/use-reasons.js";
import type { RiskRequest } from "../engine/use-risks.js";
import { Panel } from "../parts/panel.js";
import { codeName } from "./code-name.js";
import {
	pointDigits,
	pointsWith,
	type ReasonNames,
	reasonNames,
	reasonRows,
} from "./reason-words.js";

interface ReasonsPanelProps {
	readonly model: RiskModel;
	/** How many weights the model has. */
	readonly parameters: number;
	/** What the risks are of. */
	readonly request: RiskRequest;
	/** Whether no later risks are waited for. */
	readonly isLatest: boolean;
	readonly risks: readonly CodeRisk[];
	/** Before the edits; null if nothing is edited. */
	readonly before: readonly CodeRisk[] | null;
	readonly vocabulary: Vocabulary;
}

/** The records that move a chosen risk. Once asked for, they follow the patient, the date and the edits. */
export function ReasonsPanel(props: ReasonsPanelProps) {
	const { model, parameters, request, isLatest, risks, before, vocabulary } = props;
	const id = useId();
	const [chosen, setChosen] = useState<number | null>(null);
	const [isAsked, setAsked] = useState(false);
	// First records only, before the edits too: another record has another risk.
	const open = risks
		.filter(({ recordedAt }, at) => recordedAt === null && before?.[at]?.recordedAt == null)
		.map(({ token }) => token);
	const code = chosen !== null && open.includes(chosen) ? chosen : open[0];
	const { latest, isCurrent, progress } = useReasons(
		...([model, parameters, request, code] as const),
		isAsked && isLatest,
	);
	if (code === undefined) return null;
	const isBusy = isAsked && !isCurrent;
	// Those of another condition would be taken for this one's.
	const outcome = latest?.code === code ? latest.outcome : null;
	const reasons = outcome && "risk" in outcome ? outcome : null;
	const names = latest && reasonNames(latest.request, vocabulary);
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
								{codeName(vocabulary, token)}
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
			{...(reasons && names && { rows: () => reasonRows(reasons, names) })}
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
	return (
		<>
			<ul className="reasons">
				<li data-start={start}>
					<span className="change">{total(start)}</span>
					<span>{names.start}</span>
				</li>
				{listed.map((reason, at) => (
					<ReasonRow
						key={reason.parts[0]}
						name={names.nameOf(reason.parts[0] as number)}
						records={names.recordsOf(reason.records)}
						effect={reason.effect}
						shown={shown[at] as number}
						digits={digits}
					/>
				))}
				{others && (
					<ReasonRow
						name={names.othersOf(others.parts.length)}
						records={names.recordsOf(others.records)}
						effect={others.effect}
						shown={shown[listed.length] as number}
						digits={digits}
					/>
				)}
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

interface ReasonRowProps {
	readonly name: string;
	readonly records: string;
	readonly effect: number;
	/** The effect as the row shows it. */
	readonly shown: number;
	readonly digits: number;
}

const ReasonRow = ({ name, records, effect, shown, digits }: ReasonRowProps) => {
	const words = pointsWith(shown, digits);
	return (
		<li data-effect={effect}>
			<span className={`change ${/[1-9]/.test(words) ? (effect > 0 ? "up" : "down") : ""}`}>
				{words}
			</span>
			<span className="reason">
				<span className="reason-name" title={name}>
					{name}
				</span>{" "}
				<span className="quiet">{records}</span>
			</span>
		</li>
	);
};
