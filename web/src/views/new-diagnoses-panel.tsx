import { useState } from "react";
import type { Vocabulary } from "../../../src/data/cohort/vocabulary.js";
import { percent } from "../../../src/evaluate/charts/numbers.js";
import { fitted } from "../../../src/evaluate/charts/text.js";
import { type Answer, stateOf } from "../engine/answers.js";
import { type NewDiagnosis, type RiskRequest, type Risks, timesOthers } from "../engine/risks.js";
import { Notice } from "../parts/notice.js";
import { Panel } from "../parts/panel.js";
import { codeName } from "./codes.js";

interface NewDiagnosesPanelProps {
	readonly answer: Answer<RiskRequest, Risks>;
	readonly vocabulary: Vocabulary;
	readonly colourOf: (token: number) => string | undefined;
	readonly onCode: (token: number, on: boolean) => void;
}

const orders = { likely: "most likely", above: "most above others" } as const;

/** The diagnoses most likely to be recorded for the first time within a year, or most above other people. */
export function NewDiagnosesPanel(props: NewDiagnosesPanelProps) {
	const { answer, vocabulary, colourOf, onCode } = props;
	const [chosen, setChosen] = useState<keyof typeof orders>("likely");
	const risks = answer.latest?.result ?? null;
	const compares = risks?.likely.some(({ sameAgeAndSex }) => sameAgeAndSex !== null) ?? false;
	const order = compares ? chosen : "likely";
	const diagnoses = risks?.[order] ?? null;
	return (
		<Panel
			title="Likely new diagnoses"
			subtitle={`within a year${compares ? "; grey: people of this age and sex" : ""}`}
			className="new-diagnoses"
			state={stateOf(answer)}
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
			{...(diagnoses && {
				drawing: diagnoses.length > 0,
				rows: () => diagnosisRows(diagnoses, vocabulary),
			})}
		>
			{!diagnoses && answer.failure !== null ? (
				<p>The risks could not be computed: {answer.failure}</p>
			) : !diagnoses ? (
				<Notice kind="loading" title="Computing…" />
			) : diagnoses.length === 0 ? (
				<p className="quiet">No new diagnosis is more likely than among others.</p>
			) : (
				<>
					<ol className="ranked">
						{diagnoses.map((one) => (
							<Diagnosis
								key={one.token}
								one={one}
								share={lengthOf(one, order) / Math.max(1e-6, lengthOf(diagnoses[0] ?? one, order))}
								name={codeName(vocabulary, one.token)}
								multiple={order === "above"}
								colour={colourOf(one.token)}
								onChoose={(on) => onCode(one.token, on)}
							/>
						))}
					</ol>
					<BarsDrawing
						bars={diagnoses.map(({ token, probability }) => ({
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

const diagnosisRows = (diagnoses: readonly NewDiagnosis[], vocabulary: Vocabulary) => [
	["code", "name", "within 1 year", "people of this age and sex"],
	...diagnoses.map(({ token, probability, sameAgeAndSex }) => [
		vocabulary.tokens[token]?.code ?? "",
		codeName(vocabulary, token),
		probability,
		sameAgeAndSex ?? "",
	]),
];

interface BarsDrawingProps {
	readonly bars: readonly { readonly name: string; readonly value: number }[];
}

const [width, rowHeight, top] = [520, 24, 6];

/** A list as a figure to save; on the page, the list itself is shown. */
function BarsDrawing({ bars }: BarsDrawingProps) {
	const most = Math.max(1e-9, ...bars.map(({ value }) => value));
	return (
		<svg
			data-drawing
			className="off-screen"
			width={width}
			height={top + bars.length * rowHeight + 10}
			aria-hidden="true"
		>
			{bars.map(({ name, value }, at) => (
				<g key={name} transform={`translate(12 ${top + at * rowHeight})`}>
					<rect
						className="drawing-bar"
						width={(value / most) * (width - 90)}
						height={rowHeight - 5}
						rx={3}
					/>
					<text className="drawing-text" x={6} y={14}>
						{fitted(name, width - 100, { size: 12 })}
					</text>
					<text className="drawing-text" x={width - 24} y={14} textAnchor="end">
						{percent(value)}
					</text>
				</g>
			))}
		</svg>
	);
}
