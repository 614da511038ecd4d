import { useState } from "react";
import type { Vocabulary } from "../../../src/data/cohort/vocabulary.js";
import { percent } from "../../../src/evaluate/charts/numbers.js";
import { type NewDiagnosis, timesOthers } from "../engine/risks.js";
import type { RiskRequest, Risks } from "../engine/use-risks.js";
import type { Answer } from "../engine/use-when-idle.js";
import { Notice } from "../parts/notice.js";
import { Panel } from "../parts/panel.js";
import { BarsDrawing } from "./bars-drawing.js";
import { codeName } from "./code-name.js";

interface NewDiagnosesPanelProps {
	readonly request: RiskRequest;
	readonly answer: Answer<RiskRequest, Risks> | null;
	readonly vocabulary: Vocabulary;
	readonly colourOf: (token: number) => string | undefined;
	readonly onCode: (token: number, on: boolean) => void;
}

const orders = { likely: "most likely", above: "most above others" } as const;

/** The diagnoses most likely to be recorded for the first time within a year, or most above other people. */
export function NewDiagnosesPanel(props: NewDiagnosesPanelProps) {
	const { request, answer, vocabulary, colourOf, onCode } = props;
	const [chosen, setChosen] = useState<keyof typeof orders>("likely");
	const risks = answer && "risks" in answer.outcome ? answer.outcome : null;
	const compares = risks?.likely.some(({ sameAgeAndSex }) => sameAgeAndSex !== null) ?? false;
	const order = compares ? chosen : "likely";
	const found = risks?.[order] ?? null;
	return (
		<Panel
			title="Likely new diagnoses"
			subtitle={`within a year${compares ? "; grey: people of this age and sex" : ""}`}
			className="new-diagnoses"
			state={!found || answer?.request === request ? "current" : "updating"}
			tools={
				compares && (
					<fieldset className="order" aria-label="Order of the diagnoses">
						{(["likely", "above"] as const).map((one) => (
							<button
								key={one}
								type="button"
								className="small"
								aria-pressed={order === one}
								onClick={() => setChosen(one)}
							>
								{orders[one]}
							</button>
						))}
					</fieldset>
				)
			}
			{...(found && { drawing: found.length > 0, rows: () => diagnosisRows(found, vocabulary) })}
		>
			{answer && "failed" in answer.outcome ? (
				<p>The risks could not be computed: {answer.outcome.failed}</p>
			) : !found ? (
				<Notice kind="loading" title="Computing…" />
			) : found.length === 0 ? (
				<p className="quiet">No new diagnosis is more likely than among others.</p>
			) : (
				<>
					<ol className="ranked">
						{found.map((one) => (
							<Diagnosis
								key={one.token}
								one={one}
								share={lengthOf(one, order) / Math.max(1e-6, lengthOf(found[0] ?? one, order))}
								name={codeName(vocabulary, one.token)}
								multiple={order === "above"}
								colour={colourOf(one.token)}
								onChoose={(on) => onCode(one.token, on)}
							/>
						))}
					</ol>
					<BarsDrawing
						bars={found.map(({ token, probability }) => ({
							name: codeName(vocabulary, token),
							value: probability,
						}))}
					/>
				</>
			)}
		</Panel>
	);
}

/** What the bar shows. */
const lengthOf = (one: NewDiagnosis, order: keyof typeof orders) =>
	order === "above" ? timesOthers(one) : one.probability;

function Diagnosis(props: {
	readonly one: NewDiagnosis;
	/** Of the longest bar. */
	readonly share: number;
	readonly name: string;
	readonly multiple: boolean;
	readonly colour: string | undefined;
	readonly onChoose: (on: boolean) => void;
}) {
	const { one, share, name, multiple, colour, onChoose } = props;
	return (
		<li>
			<button
				type="button"
				aria-pressed={colour !== undefined}
				title={`${name}: ${colour === undefined ? "follow its risk" : "leave it out"}`}
				style={{ "--own": colour ?? "var(--line)" } as React.CSSProperties}
				onClick={() => onChoose(colour === undefined)}
			>
				<span className="likely-bar" style={{ width: `${100 * share}%` }} aria-hidden="true" />
				<span className="likely-name">{name}</span>
				<span className="likely-value">
					{multiple && <strong>×{timesOthers(one).toFixed(1)} </strong>}
					{percent(one.probability)}
					{one.sameAgeAndSex !== null && (
						<span className="quiet same-age-number">
							<span className="hidden">people of this age and sex: </span>
							{percent(one.sameAgeAndSex)}
						</span>
					)}
				</span>
			</button>
		</li>
	);
}

const diagnosisRows = (found: readonly NewDiagnosis[], vocabulary: Vocabulary) => [
	["code", "name", "within 1 year", "people of this age and sex"],
	...found.map(({ token, probability, sameAgeAndSex }) => [
		...[vocabulary.tokens[token]?.code ?? "", codeName(vocabulary, token)],
		...[probability, sameAgeAndSex ?? ""],
	]),
];
