import { useId, useState } from "react";
import type { Vocabulary } from "../../../src/cohort/vocabulary.js";
import { counted } from "../../../src/figures/numbers.js";
import { precisionText, type Reason, type Reasons } from "../../../src/infer/reasons.js";
import { reasonYears } from "../engine/reasons.js";
import type { CodeRisk, RiskModel } from "../engine/risks.js";
import { useReasons } from "../engine/use-reasons.js";
import type { RiskRequest } from "../engine/use-risks.js";
import { Panel } from "../parts/panel.js";
import { codeName } from "./code-name.js";
import { pointDigits, pointsWith, reasonRows } from "./reason-words.js";

interface ReasonsPanelProps {
	readonly model: RiskModel;
	/** How many weights the model has. */
	readonly parameters: number;
	/** What the risks are of. */
	readonly request: RiskRequest;
	/** Whether no later risks are waited for. */
	readonly isLatest: boolean;
	readonly risks: readonly CodeRisk[];
	readonly vocabulary: Vocabulary;
}

/** The records that move a chosen risk. Once asked for, they follow the patient, the date and the edits. */
export function ReasonsPanel(props: ReasonsPanelProps) {
	const { model, parameters, request, isLatest, risks, vocabulary } = props;
	const hasBirth = request.history.birthEvents === 1;
	const id = useId();
	const [chosen, setChosen] = useState<number | null>(null);
	const [isAsked, setAsked] = useState(false);
	const open = risks.filter(({ recordedAt }) => recordedAt === null).map(({ token }) => token);
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
	return (
		<Panel
			title="Why"
			subtitle={`what each code’s records add to the risk within ${reasonYears} years, in percentage points`}
			className="reasons-panel"
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
							{isBusy ? `Leaving out codes… ${Math.floor(100 * progress)} %` : "Explain"}
						</button>
					)}
				</div>
			}
			{...(reasons && { rows: () => reasonRows(reasons, vocabulary, hasBirth) })}
		>
			<div aria-live="polite">
				{outcome && "failed" in outcome && (
					<p>The reasons could not be computed: {outcome.failed}</p>
				)}
				{reasons && <ReasonList {...{ reasons, vocabulary, hasBirth }} />}
			</div>
		</Panel>
	);
}

interface ReasonListProps {
	readonly reasons: Reasons;
	readonly vocabulary: Vocabulary;
	readonly hasBirth: boolean;
}

function ReasonList({ reasons, vocabulary, hasBirth }: ReasonListProps) {
	const { risk, unrecorded, codes, others } = reasons;
	const digits = pointDigits(reasons);
	const total = (share: number) => `${(100 * share).toFixed(digits)} %`;
	return (
		<>
			<ul className="reasons">
				<li data-unrecorded={unrecorded}>
					<span className="change">{total(unrecorded)}</span>
					<span>
						{hasBirth ? "age and sex alone" : "nothing known"}
						<span className="quiet">, no records</span>
					</span>
				</li>
				{codes.map((own) => (
					<ReasonRow
						key={own.tokens[0]}
						name={codeName(vocabulary, own.tokens[0] as number)}
						reason={own}
						digits={digits}
					/>
				))}
				{others && (
					<ReasonRow
						name={counted(others.tokens.length, "other code")}
						reason={others}
						digits={digits}
					/>
				)}
				<li className="reasons-total">
					<span className="change">{total(risk)}</span>
					<span>risk within {reasonYears} years</span>
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
	readonly reason: Reason;
	readonly digits: number;
	readonly name: string;
}

const ReasonRow = ({ reason: { effect, records }, digits, name }: ReasonRowProps) => {
	const words = pointsWith(effect, digits);
	return (
		<li data-effect={effect}>
			<span className={`change ${/[1-9]/.test(words) ? (effect > 0 ? "up" : "down") : ""}`}>
				{words}
			</span>
			<span className="reason">
				<span className="reason-name" title={name}>
					{name}
				</span>{" "}
				<span className="quiet">{counted(records, "record")}</span>
			</span>
		</li>
	);
};
