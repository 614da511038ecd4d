import { useId, useState } from "react";
import type { Vocabulary } from "../../../src/cohort/vocabulary.js";
import { counted, percent } from "../../../src/figures/numbers.js";
import { type Reasons, reasonsAt, reasonYears } from "../engine/reasons.js";
import type { CodeRisk, RiskModel } from "../engine/risks.js";
import type { RiskRequest } from "../engine/use-risks.js";
import { Panel } from "../parts/panel.js";
import { pointsText } from "../parts/words.js";
import { codeName } from "./code-name.js";

interface ReasonsPanelProps {
	readonly model: RiskModel;
	/** What the risks are of. */
	readonly request: RiskRequest;
	readonly risks: readonly CodeRisk[];
	readonly vocabulary: Vocabulary;
}

/** The reasons of one request and code, once they are asked for. */
interface Explanation {
	readonly request: RiskRequest;
	readonly code: number;
	readonly outcome: Reasons | { readonly failed: string } | "busy";
}

const most = 5;

/** The records that move a chosen risk. Computed on request, as it takes a while. */
export function ReasonsPanel({ model, request, risks, vocabulary }: ReasonsPanelProps) {
	const id = useId();
	const [chosen, setChosen] = useState<number | null>(null);
	const [latest, setLatest] = useState<Explanation | null>(null);
	const open = risks.filter(({ recordedAt }) => recordedAt === null).map(({ token }) => token);
	const code = chosen !== null && open.includes(chosen) ? chosen : open[0];
	if (code === undefined) return null;
	const outcome = latest?.request === request && latest.code === code ? latest.outcome : null;
	const explain = async () => {
		if (outcome === "busy") return;
		const asked: Explanation = { request, code, outcome: "busy" };
		setLatest(asked);
		const found = await reasonsAt(model, request, code).catch((error: Error) => ({
			failed: error.message,
		}));
		setLatest((now) => (now === asked ? { ...asked, outcome: found } : now));
	};
	const reasons = outcome !== null && outcome !== "busy" && "risk" in outcome ? outcome : null;
	return (
		<Panel
			title="Why"
			subtitle={`what changes the risk within ${reasonYears} years, in percentage points, if all records of one code are left out`}
			className="reasons-panel"
			{...(reasons && { rows: () => reasonRows(reasons, vocabulary) })}
		>
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
				<button type="button" onClick={explain} aria-disabled={outcome === "busy"}>
					{outcome === "busy" ? "Leaving out codes, one at a time…" : "Explain"}
				</button>
			</div>
			<div aria-live="polite">
				{outcome !== null && outcome !== "busy" && "failed" in outcome && (
					<p>The reasons could not be computed: {outcome.failed}</p>
				)}
				{reasons && <ReasonList {...{ reasons, vocabulary }} />}
			</div>
		</Panel>
	);
}

function ReasonList({ reasons, vocabulary }: { reasons: Reasons; vocabulary: Vocabulary }) {
	const { risk, unrecorded, effects } = reasons;
	const shown = effects.slice(0, most);
	const others = effects.slice(most);
	const sum = (some: typeof effects) => some.reduce((total, { effect }) => total + effect, 0);
	const remainder = remainderOf(reasons);
	return (
		<>
			<ul className="reasons">
				{unrecorded !== null && (
					<li>
						<span className="change">{percent(unrecorded)}</span>
						<span>the model’s risk with an empty history</span>
					</li>
				)}
				{shown.map(({ token, records, effect }) => (
					<Reason key={token} effect={effect}>
						{codeName(vocabulary, token)}{" "}
						<span className="quiet">{counted(records, "record")}</span>
					</Reason>
				))}
				{others.length > 0 && (
					<Reason effect={sum(others)}>{counted(others.length, "other code")}</Reason>
				)}
				{remainder !== null && <Reason effect={remainder}>remainder: of no code alone</Reason>}
				<li className="reasons-total">
					<span className="change">{percent(risk)}</span>
					<span>risk within {reasonYears} years</span>
				</li>
			</ul>
			<p className="quiet">What moves the model’s prediction, not what causes a disease.</p>
		</>
	);
}

const Reason = ({ effect, children }: { effect: number; children: React.ReactNode }) => (
	<li>
		<span className={`change ${effect > 0 ? "up" : "down"}`}>{pointsText(effect)}</span>
		<span>{children}</span>
	</li>
);

/** The part of the risk that the effects of single codes do not explain; null if the birth is unknown. */
const remainderOf = ({ risk, unrecorded, effects }: Reasons): number | null =>
	unrecorded === null
		? null
		: risk - unrecorded - effects.reduce((total, { effect }) => total + effect, 0);

const reasonRows = (reasons: Reasons, vocabulary: Vocabulary) => [
	["code", "name", "records", "effect"],
	["", "empty history", "", reasons.unrecorded ?? ""],
	...reasons.effects.map(({ token, records, effect }) => [
		...[vocabulary.tokens[token]?.code ?? "", codeName(vocabulary, token)],
		...[records, effect],
	]),
	["", "remainder", "", remainderOf(reasons) ?? ""],
	["", `risk within ${reasonYears} years`, "", reasons.risk],
];
