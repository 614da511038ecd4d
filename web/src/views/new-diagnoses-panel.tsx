import { useState } from "react";
import { percent } from "../../../src/evaluate/charts/numbers.js";
import type { Answer } from "../engine/answers.js";
import { type NewDiagnosis, type RiskRequest, type Risks, timesOthers } from "../engine/risks.js";
import { TableDrawing } from "../parts/table.js";
import { usePatient } from "../state/patient-context.js";
import { AnswerPanel } from "./answer-panel.js";

const orders = { likely: "most likely", above: "most above others" } as const;
type Order = keyof typeof orders;

/** The diagnoses most likely to be recorded for the first time within a year, or most above other people. */
export function NewDiagnosesPanel({ answer }: { readonly answer: Answer<RiskRequest, Risks> }) {
	const { nameOf, codeOf } = usePatient();
	const [chosen, setChosen] = useState<Order>("likely");
	const risks = answer.latest?.result;
	const compares = risks?.likely.some(({ sameAgeAndSex }) => sameAgeAndSex !== null) ?? false;
	const order = compares ? chosen : "likely";
	const diagnoses = risks?.[order] ?? [];
	const isMultiple = order === "above";
	const lengthOf = (one: NewDiagnosis) => (isMultiple ? timesOthers(one) : one.probability);
	const longest = Math.max(1e-6, ...diagnoses.map(lengthOf));
	return (
		<AnswerPanel
			title="Likely new diagnoses"
			subtitle={`within a year${compares ? "; grey: people of this age and sex" : ""}`}
			className="new-diagnoses"
			answer={answer}
			failure="The risks could not be computed"
			isReported
			tools={
				compares && (
					<fieldset className="order" aria-label="Order of the diagnoses">
						{(Object.keys(orders) as Order[]).map((one) => (
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
			drawing={diagnoses.length > 0}
			caption={() => (compares ? [{ text: "“others”: people of this age and sex" }] : [])}
			rows={
				risks &&
				(() =>
					diagnoses.map(({ token, probability, sameAgeAndSex }) => ({
						code: codeOf(token),
						name: nameOf(token),
						"within 1 year": probability,
						"people of this age and sex": sameAgeAndSex,
					})))
			}
		>
			{() =>
				diagnoses.length === 0 ? (
					<p className="quiet">No new diagnosis is more likely than among others.</p>
				) : (
					<>
						<ol className="ranked">
							{diagnoses.map((one) => (
								<Diagnosis
									key={one.token}
									diagnosis={one}
									share={lengthOf(one) / longest}
									isMultiple={isMultiple}
								/>
							))}
						</ol>
						<TableDrawing
							columns={["within 1 year"]}
							rows={diagnoses.map(({ token, probability, sameAgeAndSex }) => ({
								name: nameOf(token),
								cells: [
									[
										percent(probability),
										...(sameAgeAndSex === null ? [] : [`others ${percent(sameAgeAndSex)}`]),
									],
								],
							}))}
						/>
					</>
				)
			}
		</AnswerPanel>
	);
}

interface DiagnosisProps {
	readonly diagnosis: NewDiagnosis;
	/** The length of its bar as a share of the longest. */
	readonly share: number;
	readonly isMultiple: boolean;
}

function Diagnosis({ diagnosis, share, isMultiple }: DiagnosisProps) {
	const { nameOf, colourOf, dispatch } = usePatient();
	const { token, probability, sameAgeAndSex } = diagnosis;
	const colour = colourOf(token);
	const isFollowed = colour !== undefined;
	return (
		<li>
			<button
				type="button"
				aria-pressed={isFollowed}
				title={`${nameOf(token)}: ${isFollowed ? "leave it out" : "follow its risk"}`}
				style={{ "--own": colour ?? "var(--line)" } as React.CSSProperties}
				onClick={() => dispatch({ type: "code", token, on: !isFollowed })}
			>
				<span className="likely-bar" style={{ width: `${100 * share}%` }} aria-hidden="true" />
				<span className="likely-name">{nameOf(token)}</span>
				<span className="likely-value">
					{isMultiple && <strong>×{timesOthers(diagnosis).toFixed(1)} </strong>}
					{percent(probability)}
					{sameAgeAndSex !== null && (
						<span className="quiet same-age-number">
							<span className="hidden">people of this age and sex: </span>
							{percent(sameAgeAndSex)}
						</span>
					)}
				</span>
			</button>
		</li>
	);
}
