import { useMemo } from "react";
import type { Calls } from "../../../src/api/calls.js";
import type { Vocabulary } from "../../../src/cohort/vocabulary.js";
import { type Clock, timeName } from "../../../src/figures/clock.js";
import { percent } from "../../../src/figures/numbers.js";
import type { History } from "../data/patient.js";
import { type CodeRisk, riskYears } from "../engine/risks.js";
import { useRisks } from "../engine/use-risks.js";
import { Notice } from "../parts/notice.js";
import { Panel } from "../parts/panel.js";
import { ScrollTable } from "../parts/scroll-table.js";
import { momentText } from "../parts/words.js";
import { codeName } from "./code-name.js";
import { curveColour } from "./colours.js";

interface RiskPanelProps {
	/** Null until there are predictions. */
	readonly shown: { readonly date: number; readonly history: History } | null;
	/** The unedited history; null if nothing is edited. */
	readonly original: History | null;
	readonly codes: readonly number[];
	readonly calls: Calls | null;
	/** The farthest day that the model can answer; undefined if it has learned no hazards. */
	readonly longest: number | undefined;
	readonly vocabulary: Vocabulary;
	readonly clock: Clock;
}

const yearsText = (years: number) => `${years} ${years === 1 ? "year" : "years"}`;

/** The probability that the chosen codes are recorded within some years of the date. */
export function RiskPanel(props: RiskPanelProps) {
	const { shown, original, codes, calls, longest, vocabulary, clock } = props;
	const request = useMemo(
		() => shown && { history: shown.history, original, codes, date: shown.date },
		[shown, original, codes],
	);
	const answer = useRisks(calls, request, longest);
	if (longest === undefined)
		return (
			<Panel title="Risk">
				<Notice kind="empty" title="This model cannot say by when">
					<p>
						It has learned no hazards. Train one with the preset default or tiny, or with --hazards.
					</p>
				</Notice>
			</Panel>
		);
	const isCurrent = answer !== null && answer.request === request;
	const found = answer && "risks" in answer.outcome ? answer.outcome : null;
	const date = answer?.request.date ?? shown?.date ?? 0;
	return (
		<Panel
			title="Risk"
			subtitle={`probability of a first record within some years of ${momentText(clock, date)}, from the records up to that day; death competes`}
			className="risk-panel"
			state={isCurrent || !found ? "current" : "updating"}
			{...(found && { rows: () => riskRows(found.risks, vocabulary) })}
		>
			{codes.length === 0 ? (
				<p className="quiet">Choose a code below.</p>
			) : answer && "failed" in answer.outcome ? (
				<p>The risks could not be computed: {answer.outcome.failed}</p>
			) : !found ? (
				<Notice kind="loading" title="Computing…" />
			) : (
				<ScrollTable label="Risks" wide>
					<thead>
						<tr>
							<th scope="col">code</th>
							{riskYears.map((years) => (
								<th scope="col" key={years}>
									{yearsText(years)}
								</th>
							))}
						</tr>
					</thead>
					<tbody>
						{found.risks.map((risk, at) => (
							<RiskRow
								key={risk.token}
								{...{ risk, clock, vocabulary }}
								before={found.before?.[at]}
								colour={curveColour(at)}
							/>
						))}
					</tbody>
				</ScrollTable>
			)}
		</Panel>
	);
}

interface RiskRowProps {
	readonly risk: CodeRisk;
	readonly before: CodeRisk | undefined;
	readonly vocabulary: Vocabulary;
	readonly clock: Clock;
	readonly colour: string;
}

function RiskRow({ risk, before, vocabulary, clock, colour }: RiskRowProps) {
	const { token, recordedAt, probabilities } = risk;
	// The risk of a first record is not compared with that of another one.
	const comparable = before && (before.recordedAt === null) === (recordedAt === null);
	return (
		<tr data-token={token}>
			<th scope="row">
				<span style={{ color: colour }}>{codeName(vocabulary, token)}</span>
				{recordedAt !== null && (
					<span className="quiet">
						{" "}
						already recorded, {timeName(clock, recordedAt)}: another record
					</span>
				)}
			</th>
			{probabilities.map((probability, at) => {
				const was = comparable ? before.probabilities[at] : null;
				return (
					<td key={riskYears[at]} data-risk={probability ?? undefined}>
						{probability === null ? "–" : percent(probability)}
						{typeof was === "number" && <span className="quiet"> was {percent(was)}</span>}
					</td>
				);
			})}
		</tr>
	);
}

const riskRows = (risks: readonly CodeRisk[], vocabulary: Vocabulary) => [
	["code", "recorded", ...riskYears.map((years) => `within ${yearsText(years)}`)],
	...risks.map(({ token, recordedAt, probabilities }) => [
		codeName(vocabulary, token),
		recordedAt === null ? "no" : "yes",
		...probabilities.map((probability) => probability ?? ""),
	]),
];
