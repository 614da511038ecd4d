import type { ReactNode } from "react";
import type { Vocabulary } from "../../../src/data/cohort/vocabulary.js";
import type { Clock } from "../../../src/evaluate/charts/clock.js";
import { numberedSurges } from "../../../src/evaluate/charts/risk/picture.js";
import type { Calls } from "../../../src/predict/library/calls.js";
import { type NamedCurve, ProbabilityChart } from "../charts/probability-chart.js";
import type { History } from "../data/patient.js";
import { Notice } from "../parts/notice.js";
import { Panel, type PanelState } from "../parts/panel.js";
import { timeCells, timeNames } from "../parts/time-columns.js";
import { momentText } from "../parts/words.js";
import { horizons } from "../state/reducer.js";
import { CodeChips } from "./code-chips.js";
import { DriversList } from "./drivers-list.js";
import { probabilityWords } from "./prediction-words.js";
import { RisesList } from "./rises-list.js";

interface ProbabilityPanelProps extends PanelState {
	/** Null until there are predictions. */
	readonly shown: {
		/** Of these predictions, as is the horizon; the user may have moved on. */
		readonly date: number;
		/** The end of the day of prediction. */
		readonly until: number;
		readonly horizonYears: number;
		readonly curves: readonly NamedCurve[];
		readonly history: History;
	} | null;
	/** Shown in place of predictions. */
	readonly waiting: ReactNode;
	readonly calls: Calls | null;
	readonly vocabulary: Vocabulary;
	readonly clock: Clock;
	readonly domain: readonly [from: number, to: number];
	readonly horizonYears: number;
	/** Collapses the explanations, to leave room for editing. */
	readonly editing: boolean;
	/** Whether codes are chosen here, because there is no Risk panel. */
	readonly picks: boolean;
	readonly onCode: (token: number, on: boolean) => void;
	readonly onHorizon: (years: number) => void;
}

const mostRises = 6;

/** The probability of the chosen codes over time, with its rises and drivers. */
export function ProbabilityPanel(props: ProbabilityPanelProps) {
	const { shown, waiting, clock, domain, horizonYears, editing, onHorizon, state } = props;
	const { date = 0, until = 0, curves = [] } = shown ?? {};
	const rises = numberedSurges(curves, mostRises);
	const compared = curves.some(({ base }) => base);
	return (
		<Panel
			title="Code probability at a visit"
			subtitle={`probability of each code, if something is recorded at that time; ${compared ? "dotted: original history; " : ""}dashed: after ${shown ? momentText(clock, date) : "the date"}`}
			className="probability-panel"
			drawing={curves.length > 0}
			state={state}
			tools={
				<label className="horizon">
					look ahead{" "}
					<select value={horizonYears} onChange={(event) => onHorizon(Number(event.target.value))}>
						{horizons.map((years) => (
							<option key={years} value={years}>
								{years} {years === 1 ? "year" : "years"}
							</option>
						))}
					</select>
				</label>
			}
			caption={() => [
				...curves.map(({ name, colour }) => ({ text: name, colour })),
				...(compared ? [{ text: "dotted: original history" }] : []),
				{ text: `dashed: after ${momentText(clock, date)}` },
			]}
			rows={() => probabilityRows(curves, clock)}
		>
			{shown ? (
				<>
					<CodeChips
						{...shown}
						vocabulary={props.vocabulary}
						onCode={props.onCode}
						picks={props.picks}
					/>
					{curves.length > 0 ? (
						<>
							<ProbabilityChart
								curves={curves}
								rises={rises}
								clock={clock}
								date={until}
								domain={domain}
								description={`Code probability over time. ${curves.map((curve) => probabilityWords(curve, until, shown.horizonYears)).join("; ")}.`}
							/>
							<Why folded={editing}>
								<RisesList {...shown} rises={rises} vocabulary={props.vocabulary} clock={clock} />
								{props.calls && (
									<DriversList
										{...shown}
										calls={props.calls}
										vocabulary={props.vocabulary}
										clock={clock}
									/>
								)}
							</Why>
						</>
					) : (
						<Notice kind="empty" title="No code is chosen">
							<p>
								Add a condition {props.picks ? "above" : "in the Risk panel"}, or click a likely
								code.
							</p>
						</Notice>
					)}
				</>
			) : (
				waiting
			)}
		</Panel>
	);
}

const probabilityRows = (curves: readonly NamedCurve[], clock: Clock) => [
	[
		...timeNames(clock),
		...curves.flatMap(({ name, base }) => [name, ...(base ? [`${name} (original)`] : [])]),
	],
	...(curves[0]?.times ?? []).map((time, at) => [
		...timeCells(clock, time),
		...curves.flatMap(({ probability, base }) => [
			probability[at] as number,
			...(base ? [base.probability[at] as number] : []),
		]),
	]),
];

function Why({ folded, children }: { readonly folded: boolean; readonly children: ReactNode }) {
	if (!folded) return <div className="why">{children}</div>;
	return (
		<details>
			<summary>Rises and drivers</summary>
			<div className="why">{children}</div>
		</details>
	);
}
