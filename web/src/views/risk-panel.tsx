import { useContext, useEffect, useMemo, useRef, useState } from "react";
import type { Vocabulary } from "../../../src/data/cohort/vocabulary.js";
import { type Clock, timeName } from "../../../src/evaluate/charts/clock.js";
import { usualYears } from "../../../src/predict/user-input/moments.js";
import type { Patient } from "../data/patient.js";
import { type Answer, idleMilliseconds, stateOf, useAnswer } from "../engine/answers.js";
import { afterYears, curveDays, type RiskRequest, type Risks } from "../engine/risks.js";
import type { TrueRiskReply, TrueRiskRequest } from "../engine/true-risks.js";
import { startWorker } from "../page-worker.js";
import { useRemovalFocus } from "../parts/chip-list.js";
import { CodePicker } from "../parts/combobox.js";
import { Notice } from "../parts/notice.js";
import { Panel, PictureContext } from "../parts/panel.js";
import { withBrokenLines } from "../parts/picture.js";
import { ScrollTable } from "../parts/table.js";
import { dayText, yearsText } from "../parts/words.js";
import { codeName } from "./codes.js";
import { curveBefore, riskAfter, riskRows, type ShownRisk } from "./risk-words.js";

interface RiskPanelProps {
	readonly request: RiskRequest;
	readonly answer: Answer<RiskRequest, Risks>;
	/** The farthest day that the model can answer; undefined if it has learned no hazards. */
	readonly longest: number | undefined;
	readonly simulation: Patient["simulation"];
	readonly vocabulary: Vocabulary;
	readonly clock: Clock;
	readonly colourOf: (token: number) => string | undefined;
	readonly onCode: (token: number, on: boolean) => void;
}

/** The probability that the chosen codes are recorded within some years of the date. */
export function RiskPanel(props: RiskPanelProps) {
	const { request, answer, longest, simulation, vocabulary, clock, colourOf, onCode } = props;
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
	return (
		<Panel
			title="Risk"
			subtitle={
				shownRequest
					? `risk of a first record after ${dayText(clock, shownRequest.date)}, before death`
					: "risk of a first record"
			}
			className="risk-panel"
			state={stateOf(answer)}
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
					onPick={(token) => onCode(token, true)}
				/>
			}
			{...(shownRequest &&
				shown.length > 0 && {
					rows: () => riskRows(shown, shownRequest.date, facts, vocabulary, clock),
				})}
		>
			{!latest && answer.failure !== null ? (
				<p>The risks could not be computed: {answer.failure}</p>
			) : !latest ? (
				<Notice kind="loading" title="Computing…" />
			) : shown.length === 0 ? (
				<p className="quiet">Add a condition above, or click one of the likely new diagnoses.</p>
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
						{shown.map((row, at) => (
							<RiskRow
								key={row.risk.token}
								{...row}
								name={codeName(vocabulary, row.risk.token)}
								clock={clock}
								colour={colourOrInk(row.risk.token)}
								onRemove={() => {
									onLeave(at);
									onCode(row.risk.token, false);
								}}
							/>
						))}
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
				<RiskDrawing
					shown={shown}
					nameOf={(token) => codeName(vocabulary, token)}
					timeText={(time) => timeName(clock, time)}
					colourOf={colourOrInk}
				/>
			)}
		</Panel>
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
			((asked: TrueRiskRequest) =>
				new Promise<readonly (readonly number[] | null)[]>((resolve, reject) => {
					const { port1, port2 } = new MessageChannel();
					port1.onmessage = ({ data }: MessageEvent<TrueRiskReply>) =>
						"failed" in data ? reject(new Error(data.failed)) : resolve(data.risks);
					worker.postMessage(asked, [port2]);
				})),
		[worker],
	);
	return useAnswer(request, compute, idleMilliseconds);
}

interface RiskRowProps extends ShownRisk {
	readonly name: string;
	readonly clock: Clock;
	readonly colour: string;
	readonly onRemove: () => void;
}

/** The risk of one code at the horizons. */
function RiskRow({ risk, before, truth, name, clock, colour, onRemove }: RiskRowProps) {
	const { token, recordedAt, curve, sameAgeAndSex } = risk;
	const was = curveBefore(before);
	return (
		<tr data-token={token}>
			<th scope="row">
				<div className="risk-name">
					<span style={{ color: colour }}>{name}</span>
					<button
						type="button"
						className="plain"
						aria-label={`Leave out ${name}`}
						onClick={onRemove}
					>
						×
					</button>
				</div>
			</th>
			{recordedAt !== null ? (
				<td className="recorded" colSpan={usualYears.length}>
					already recorded, {timeName(clock, recordedAt)}
					{before?.recordedAt === null && ", in the edited history"}
				</td>
			) : (
				usualYears.map((years) => (
					<td
						key={years}
						className="number"
						data-risk={afterYears(curve, years)}
						data-label={`${years} y`}
					>
						{was && <Change before={was} after={curve} years={years} />}
						<strong>{riskAfter(curve, years)}</strong>
						{was && <span className="was">{wasText(was, curve, years)}</span>}
						{sameAgeAndSex && !was && (
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
				))
			)}
		</tr>
	);
}

interface ChangeProps {
	readonly before: readonly number[];
	readonly after: readonly number[];
	readonly years: number;
}

/** Points up or down if the number that is shown has changed. */
function Change({ before, after, years }: ChangeProps) {
	if (riskAfter(before, years) === riskAfter(after, years)) return null;
	const isHigher = (afterYears(after, years) ?? 0) > (afterYears(before, years) ?? 0);
	return (
		<em className={`change ${isHigher ? "up" : "down"}`} aria-hidden="true">
			{isHigher ? "▲" : "▼"}
		</em>
	);
}

/** What the risk was before the edits. */
function wasText(before: readonly number[], after: readonly number[], years: number): string {
	const was = riskAfter(before, years);
	return was === riskAfter(after, years) ? "as before" : `was ${was}`;
}

interface RiskDrawingProps {
	readonly shown: readonly ShownRisk[];
	readonly nameOf: (token: number) => string;
	/** A time in words. */
	readonly timeText: (time: number) => string;
	readonly colourOf: (token: number) => string;
}

const [width, nameWidth, headHeight, lineHeight, columnWidth] = [720, 300, 24, 16, 138];

/** The risks as a figure to save; on the page, a table shows them. */
function RiskDrawing({ shown, nameOf, timeText, colourOf }: RiskDrawingProps) {
	const x = (column: number) => nameWidth + (column + 1) * columnWidth - 12;
	let bottom = headHeight;
	const rows = shown.map((row) => {
		const names = withBrokenLines([{ text: nameOf(row.risk.token), paragraph: true }], nameWidth);
		const numbers = [
			{ words: "", curve: row.risk.curve },
			{ words: "was ", curve: curveBefore(row.before) },
			{ words: "others ", curve: row.risk.sameAgeAndSex },
			{ words: "true ", curve: row.truth },
		].flatMap(({ words, curve }) => (curve ? [{ words, curve }] : []));
		const lines = Math.max(names.length, row.risk.recordedAt === null ? numbers.length : 1);
		const top = bottom;
		bottom += lines * lineHeight + 10;
		return { ...row, names, numbers, top };
	});
	return (
		<svg data-drawing className="off-screen" width={width} height={bottom} aria-hidden="true">
			{usualYears.map((years, column) => (
				<text key={years} className="drawing-text" x={x(column)} y={13} textAnchor="end">
					{yearsText(years)}
				</text>
			))}
			{rows.map(({ risk, names, numbers, top }) => (
				<g key={risk.token} transform={`translate(0 ${top})`}>
					{names.map(({ text }, line) => (
						<text
							key={text}
							className="drawing-name"
							x={12}
							y={14 + line * lineHeight}
							style={{ fill: colourOf(risk.token) }}
						>
							{text}
						</text>
					))}
					{risk.recordedAt !== null ? (
						<text className="drawing-text" x={nameWidth + 12} y={14}>
							already recorded, {timeText(risk.recordedAt)}
						</text>
					) : (
						usualYears.map((years, column) =>
							numbers.map(({ words, curve }, line) => (
								<text
									key={`${years} ${words}`}
									className={line === 0 ? "drawing-name" : "drawing-text"}
									x={x(column)}
									y={14 + line * lineHeight}
									textAnchor="end"
								>
									{`${words}${riskAfter(curve, years)}`}
								</text>
							)),
						)
					)}
				</g>
			))}
		</svg>
	);
}
