import { useContext, useEffect, useMemo, useRef, useState } from "react";
import { timeName } from "../../../src/evaluate/charts/clock.js";
import { usualYears } from "../../../src/predict/user-input/moments.js";
import { idleMilliseconds, useAnswer } from "../engine/answers.js";
import { afterYears, curveDays } from "../engine/risks.js";
import type { TrueRiskReply, TrueRiskRequest } from "../engine/true-risks.js";
import { startWorker } from "../page-worker.js";
import { Button } from "../parts/button.js";
import { CodePicker } from "../parts/combobox.js";
import { useRemovalFocus } from "../parts/hooks.js";
import { Notice } from "../parts/notice.js";
import { Panel, PictureContext } from "../parts/panel.js";
import { ScrollTable, TableDrawing } from "../parts/table.js";
import { dayText, yearsText } from "../parts/words.js";
import { usePatient } from "../state/patient-context.js";
import { AnswerPanel } from "./answer-panel.js";
import { curveBefore, drawnRisk, riskAfter, riskRows, type ShownRisk } from "./risk-words.js";

/** The probability that the chosen codes are recorded within some years of the date. */
export function RiskPanel() {
	const panels = usePatient();
	const { patient, vocabulary, clock, colourOf, nameOf, dispatch, answer, request } = panels;
	const longest = panels.riskModel?.longest;
	const { simulation } = patient;
	const facts = useContext(PictureContext);
	const [showsTruth, setShowsTruth] = useState(false);
	const rows = useRef<HTMLTableSectionElement>(null);
	const onLeave = useRemovalFocus(rows, ".risk-name button");
	const { latest } = answer;
	const shownRequest = latest?.request ?? null;
	const isEdited = shownRequest !== null && shownRequest.original !== null;
	const truthRequest = useMemo(
		() =>
			showsTruth && simulation && shownRequest && !isEdited && longest !== undefined
				? {
						...simulation,
						date: shownRequest.date,
						days: curveDays(longest),
						codes: shownRequest.codes.map((token) => vocabulary.tokens[token]?.code ?? ""),
					}
				: null,
		[showsTruth, simulation, shownRequest, isEdited, longest, vocabulary],
	);
	const truth = useTrueRisks(truthRequest);
	if (longest === undefined)
		return (
			<Panel title="Risk" className="risk-panel">
				<Notice kind="empty" title="This model cannot say by when">
					<p>
						It has learned no hazards. Train one with the preset default or tiny, or with --hazards.
					</p>
				</Notice>
			</Panel>
		);
	const truths = truth.isCurrent ? truth.latest?.result : undefined;
	// A code that was left out goes at once; one that was added comes with its risk.
	const shown = (latest?.result.risks ?? [])
		.map((risk, at) => ({
			risk,
			before: latest?.result.before?.[at],
			truth: truths?.[at] ?? null,
		}))
		.filter(({ risk }) => request.codes.includes(risk.token));
	const comparesPeople = shown.some(({ risk }) => risk.sameAgeAndSex);
	const colourOrInk = (token: number) => colourOf(token) ?? "var(--ink)";
	const recordedText = (time: number) => `already recorded, ${timeName(clock, time)}`;
	return (
		<AnswerPanel
			title="Risk"
			subtitle={
				shownRequest
					? `risk of a first record after ${dayText(clock, shownRequest.date)}, before death`
					: "risk of a first record"
			}
			className="risk-panel"
			answer={answer}
			failure="The risks could not be computed"
			isReported
			drawing={shown.length > 0}
			caption={() => [
				...(isEdited ? [{ text: "“was”: before the edits" }] : []),
				...(comparesPeople ? [{ text: "“others”: people of this age and sex" }] : []),
				...(truths ? [{ text: "“true”: true risk, from the simulation" }] : []),
			]}
			tools={
				<CodePicker
					label="Add a condition"
					placeholder="Add a condition …"
					vocabulary={vocabulary}
					onPick={(token) => dispatch({ type: "code", token, on: true })}
				/>
			}
			rows={
				shownRequest && shown.length > 0
					? () => riskRows(shown, shownRequest.date, facts, vocabulary, clock)
					: undefined
			}
		>
			{() => (
				<>
					{shown.length === 0 ? (
						<p className="quiet">
							Add a condition above, or click one of the likely new diagnoses.
						</p>
					) : (
						<ScrollTable label="Risks" wide>
							<thead>
								<tr>
									<th scope="col">condition</th>
									{usualYears.map((years) => (
										<th scope="col" className="number" key={years}>
											{yearsText(years)}
										</th>
									))}
								</tr>
							</thead>
							<tbody ref={rows}>
								{shown.map((row, at) => {
									const { token, recordedAt } = row.risk;
									return (
										<tr key={token} data-token={token}>
											<th scope="row">
												<div className="risk-name">
													<span style={{ color: colourOrInk(token) }}>{nameOf(token)}</span>
													<Button
														className="plain"
														aria-label={`Leave out ${nameOf(token)}`}
														onClick={() => {
															onLeave(at);
															dispatch({ type: "code", token, on: false });
														}}
													>
														×
													</Button>
												</div>
											</th>
											{recordedAt === null ? (
												usualYears.map((years) => <RiskCell key={years} {...row} years={years} />)
											) : (
												<td className="recorded" colSpan={usualYears.length}>
													{recordedText(recordedAt)}
													{row.before?.recordedAt === null && ", in the edited history"}
												</td>
											)}
										</tr>
									);
								})}
							</tbody>
						</ScrollTable>
					)}
					<p className="risk-legend">
						<strong>this person</strong>
						{isEdited && <span>was: before the edits</span>}
						{comparesPeople && !isEdited && <span>grey: people of this age and sex</span>}
						{simulation && !isEdited && (
							<label className={showsTruth ? "shows-truth" : undefined}>
								<input
									type="checkbox"
									checked={showsTruth}
									onChange={(event) => setShowsTruth(event.target.checked)}
								/>{" "}
								<span className={showsTruth ? "truth-number" : undefined}>
									true risk, from the simulation
								</span>
								{truthRequest && !truths && truth.failure === null && "…"}
							</label>
						)}
					</p>
					{truth.failure !== null && (
						<p className="quiet">The true risk cannot be computed for this date: {truth.failure}</p>
					)}
					{shown.length > 0 && (
						<TableDrawing
							columns={usualYears.map(yearsText)}
							rows={shown.map((row) => {
								const { token, recordedAt } = row.risk;
								return {
									name: nameOf(token),
									colour: colourOrInk(token),
									cells: recordedAt === null ? drawnRisk(row) : [[recordedText(recordedAt)]],
								};
							})}
						/>
					)}
				</>
			)}
		</AnswerPanel>
	);
}

/** The true risks of a request, by code and day, computed in a worker of their own while one is asked for. */
function useTrueRisks(request: TrueRiskRequest | null) {
	const isAsked = request !== null;
	const worker = useMemo(() => (isAsked ? startWorker("true risks") : null), [isAsked]);
	useEffect(() => () => worker?.terminate(), [worker]);
	const compute = useMemo(
		() =>
			worker &&
			((query: TrueRiskRequest) =>
				new Promise<readonly (readonly number[] | null)[]>((resolve, reject) => {
					const { port1, port2 } = new MessageChannel();
					port1.onmessage = ({ data }: MessageEvent<TrueRiskReply>) =>
						"failed" in data ? reject(new Error(data.failed)) : resolve(data.risks);
					worker.postMessage(query, [port2]);
				})),
		[worker],
	);
	return useAnswer(request, compute, idleMilliseconds);
}

/** A risk within some years, beside what it was, that of people of this age and sex, and the true one. */
function RiskCell({ risk, before, truth, years }: ShownRisk & { readonly years: number }) {
	const { curve, sameAgeAndSex } = risk;
	const [is, was] = [curve, curveBefore(before)].map((one) => one && riskAfter(one, years));
	const isHigher = (afterYears(curve, years) ?? 0) > (afterYears(before?.curve ?? [], years) ?? 0);
	return (
		<td className="number" data-risk={afterYears(curve, years)} data-label={`${years} y`}>
			{was !== undefined && was !== is && (
				<em className={`change ${isHigher ? "up" : "down"}`} aria-hidden="true">
					{isHigher ? "▲" : "▼"}
				</em>
			)}
			<strong>{is}</strong>
			{was !== undefined && <span className="was">{was === is ? "as before" : `was ${was}`}</span>}
			{sameAgeAndSex && was === undefined && (
				<span className="same-age-number">
					<span className="hidden">people of this age and sex: </span>
					{riskAfter(sameAgeAndSex, years)}
				</span>
			)}
			{truth && (
				<span className="truth-number">
					<span className="hidden">true risk: </span>
					{riskAfter(truth, years)}
				</span>
			)}
		</td>
	);
}
