import { useState } from "react";
import { percent } from "../../../src/evaluate/charts/numbers.js";
import { type NewDiagnosis, timesOthers } from "../engine/risks.js";
import { Button } from "../parts/button.js";
import { TableDrawing } from "../parts/table.js";
import { usePatient } from "../state/patient-context.js";
import { AnswerPanel } from "./answer-panel.js";

const orders = { likely: "most likely", above: "most above others" } as const;
type Order = keyof typeof orders;

/** The diagnoses most likely to be recorded for the first time within a year, or most above other people. */
export function NewDiagnosesPanel() {
	const { answer, nameOf, codeOf, colourOf, dispatch } = usePatient();
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
							<Button
								key={one}
								className="small"
								aria-pressed={order === one}
								onClick={() => setChosen(one)}
							>
								{orders[one]}
							</Button>
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
							{diagnoses.map((one) => {
								const { token, probability, sameAgeAndSex } = one;
								const [name, colour] = [nameOf(token), colourOf(token)];
								const isFollowed = colour !== undefined;
								return (
									<li key={token}>
										<Button
											aria-pressed={isFollowed}
											title={`${name}: ${isFollowed ? "leave it out" : "follow its risk"}`}
											style={{ "--own": colour ?? "var(--line)" } as React.CSSProperties}
											onClick={() => dispatch({ type: "code", token, on: !isFollowed })}
										>
											<span
												className="likely-bar"
												style={{ width: `${(100 * lengthOf(one)) / longest}%` }}
												aria-hidden="true"
											/>
											<span className="likely-name">{name}</span>
											<span className="likely-value">
												{isMultiple && <strong>×{timesOthers(one).toFixed(1)} </strong>}
												{percent(probability)}
												{sameAgeAndSex !== null && (
													<span className="quiet same-age-number">
														<span className="hidden">people of this age and sex: </span>
														{percent(sameAgeAndSex)}
													</span>
												)}
											</span>
										</Button>
									</li>
								);
							})}
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
