import { useContext, useMemo, useRef, useState } from "react";
import type { Vocabulary } from "../../../src/data/cohort/vocabulary.js";
import { type Clock, timeName } from "../../../src/evaluate/charts/clock.js";
import { usualYears } from "../../../src/predict/user-input/moments.js";
import { curveSize, RiskAxis } from "../charts/risk-curve.js";
import { riskScale } from "../charts/risk-scale.js";
import type { Patient } from "../data/patient.js";
import { afterYears, curveDays } from "../engine/risks.js";
import type { TrueRiskRequest } from "../engine/true-risks.js";
import type { RiskRequest, Risks } from "../engine/use-risks.js";
import { useTrueRisks } from "../engine/use-true-risks.js";
import type { Answer } from "../engine/use-when-idle.js";
import { CodePicker } from "../parts/code-picker.js";
import { Notice } from "../parts/notice.js";
import { Panel } from "../parts/panel.js";
import { PictureContext } from "../parts/picture-facts.js";
import { ScrollTable } from "../parts/scroll-table.js";
import { useRemovalFocus } from "../parts/use-removal-focus.js";
import { dayText } from "../parts/words.js";
import { codeName } from "./code-name.js";
import { RiskDrawing } from "./risk-drawing.js";
import { RiskRow } from "./risk-row.js";
import { riskRows } from "./risk-rows.js";

interface RiskPanelProps {
	readonly request: RiskRequest;
	readonly answer: Answer<RiskRequest, Risks> | null;
	/** The farthest day that the model can answer; undefined if it has learned no hazards. */
	readonly longest: number | undefined;
	readonly simulation: Patient["simulation"];
	readonly vocabulary: Vocabulary;
	readonly clock: Clock;
	readonly colourOf: (token: number) => string | undefined;
	readonly onCode: (token: number, on: boolean) => void;
}

const yearsText = (years: number) => `${years} ${years === 1 ? "year" : "years"}`;

/** The probability that the chosen codes are recorded within some years of the date. */
export function RiskPanel(props: RiskPanelProps) {
	const { request, answer, longest, simulation, vocabulary, clock, colourOf, onCode } = props;
	const facts = useContext(PictureContext);
	const [showsTruth, setShowsTruth] = useState(false);
	const rows = useRef<HTMLTableSectionElement>(null);
	const onLeave = useRemovalFocus(rows, ".risk-name button");
	const found = answer && "risks" in answer.outcome ? answer.outcome : null;
	const asked = answer?.request ?? null;
	const isEdited = asked !== null && asked.original !== null;
	const truthRequest = useMemo(
		() =>
			showsTruth && simulation && asked && !isEdited && longest !== undefined
				? trueRequest(simulation, asked, longest, vocabulary)
				: null,
		[showsTruth, simulation, asked, isEdited, longest, vocabulary],
	);
	const trueAnswer = useTrueRisks(truthRequest);
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
	const truths =
		trueAnswer && trueAnswer.request === truthRequest && "risks" in trueAnswer.outcome
			? trueAnswer.outcome.risks
			: null;
	const truthFailure =
		trueAnswer && "failed" in trueAnswer.outcome ? trueAnswer.outcome.failed : null;
	// A code that was left out goes at once; one that was added comes with its risk.
	const shown = (found?.risks ?? [])
		.map((risk, at) => ({ risk, before: found?.before?.[at], truth: truths?.[at] ?? null }))
		.filter(({ risk }) => request.codes.includes(risk.token));
	const scale = riskScale(
		shown.flatMap(({ risk, truth }) =>
			risk.recordedAt === null
				? [risk.curve, risk.sameAgeAndSex ?? [], truth ?? []].flatMap((own) => [
						afterYears(own, 1) ?? 0,
						own.at(-1) ?? 0,
					])
				: [],
		),
	);
	const comparesPeople = shown.some(({ risk }) => risk.sameAgeAndSex);
	return (
		<Panel
			title="Risk"
			subtitle={
				asked
					? `risk of a first record after ${dayText(clock, asked.date)}, before death`
					: "risk of a first record"
			}
			className="risk-panel"
			state={!found || asked === request ? "current" : "updating"}
			drawing={shown.length > 0}
			caption={() => [
				{ text: "solid: this person" },
				...(isEdited ? [{ text: "dotted: before the edits" }] : []),
				...(comparesPeople ? [{ text: "dashed, grey, “others”: people of this age and sex" }] : []),
				...(truths ? [{ text: "dotted, black: true risk, from the simulation" }] : []),
			]}
			tools={
				<CodePicker
					label="Add a condition"
					placeholder="Add a condition …"
					vocabulary={vocabulary}
					onPick={(token) => onCode(token, true)}
				/>
			}
			{...(asked &&
				shown.length > 0 && {
					rows: () => riskRows(shown, asked.date, facts, vocabulary, clock),
				})}
		>
			{answer && "failed" in answer.outcome ? (
				<p>The risks could not be computed: {answer.outcome.failed}</p>
			) : !found ? (
				<Notice kind="loading" title="Computing…" />
			) : shown.length === 0 ? (
				<p className="quiet">Add a condition above, or click one of the likely new diagnoses.</p>
			) : (
				<ScrollTable label="Risks" wide>
					<thead>
						<tr>
							<th scope="col">condition</th>
							<th scope="col" className="risk-picture">
								<span className="hidden">risk over time, on one logarithmic scale</span>
								<svg width={curveSize.width} height={curveSize.axisHeight} aria-hidden="true">
									<RiskAxis scale={scale} />
								</svg>
							</th>
							{usualYears.map((years) => (
								<th scope="col" className="number" key={years}>
									{yearsText(years)}
								</th>
							))}
						</tr>
					</thead>
					<tbody ref={rows}>
						{shown.map(({ risk, ...others }, at) => (
							<RiskRow
								key={risk.token}
								{...{ risk, ...others, clock, vocabulary, longest, scale }}
								colour={colourOf(risk.token) ?? "var(--ink)"}
								onRemove={() => {
									onLeave(at);
									onCode(risk.token, false);
								}}
							/>
						))}
					</tbody>
				</ScrollTable>
			)}
			<div className="risk-foot">
				{shown.length > 0 && !isEdited && (
					<p className="quiet risk-reading">
						Curves: time runs down; further right is a higher risk, on a logarithmic scale.
					</p>
				)}
				<p className="risk-legend">
					<span className="line line-model">
						<strong>this person</strong>
					</span>
					{isEdited && <span className="line line-before">before the edits</span>}
					{comparesPeople && (
						<span className={`line line-same-age${isEdited ? " only-curve" : ""}`}>
							people of this age and sex
						</span>
					)}
					{simulation && !isEdited && (
						<label className={showsTruth ? "line line-truth" : undefined}>
							<input
								type="checkbox"
								checked={showsTruth}
								onChange={(event) => setShowsTruth(event.target.checked)}
							/>{" "}
							true risk, from the simulation
							{truthRequest && !truths && truthFailure === null && "…"}
						</label>
					)}
				</p>
				{truthFailure !== null && (
					<p className="quiet">The true risk cannot be computed for this date: {truthFailure}</p>
				)}
			</div>
			{shown.length > 0 && (
				<RiskDrawing
					{...{ shown, longest, scale }}
					nameOf={(token) => codeName(vocabulary, token)}
					timeText={(time) => timeName(clock, time)}
					colourOf={(token) => colourOf(token) ?? "var(--ink)"}
				/>
			)}
		</Panel>
	);
}

const trueRequest = (
	simulation: NonNullable<Patient["simulation"]>,
	{ codes, date }: RiskRequest,
	longest: number,
	{ tokens }: Vocabulary,
): TrueRiskRequest => ({
	...{ ...simulation, date },
	days: curveDays(longest),
	codes: codes.map((token) => tokens[token]?.code ?? ""),
});
