import type { ReactNode } from "react";
import type { Vocabulary } from "../../../src/data/cohort/vocabulary.js";
import type { Clock } from "../../../src/evaluate/charts/clock.js";
import { percent } from "../../../src/evaluate/charts/numbers.js";
import type { Panels } from "../engine/panels.js";
import { Panel, type PanelState } from "../parts/panel.js";
import { timeCells, timeNames } from "../parts/time-columns.js";
import { momentText, pointsText } from "../parts/words.js";
import { BarsDrawing } from "./bars-drawing.js";
import { codeName } from "./code-name.js";

interface LikelyPanelProps extends PanelState {
	readonly panels: Panels | null;
	/** Of the original history, to compare with. */
	readonly base: Panels | null;
	readonly waiting: ReactNode;
	readonly vocabulary: Vocabulary;
	readonly clock: Clock;
	readonly codes: readonly number[];
	readonly colourOf: (token: number) => string | undefined;
	readonly onCode: (token: number, on: boolean) => void;
}

/** The codes most likely to be recorded at the date. */
export function LikelyPanel({ waiting, clock, state, ...list }: LikelyPanelProps) {
	const { panels, base, vocabulary } = list;
	const hint = base
		? "with the change from the original history, in percentage points"
		: "click a code to draw its probability";
	const when = panels ? momentText(clock, panels.queries.date) : "";
	return (
		<Panel
			title="Most likely at the date"
			subtitle={panels ? `if something is recorded on ${when}; ${hint}` : hint}
			drawing={panels !== null}
			state={state}
			rows={() => [
				[...timeNames(clock), "rank", "code", "name", "probability", ...(base ? ["was"] : [])],
				...(panels?.top ?? []).map(({ token, probability }, at) => [
					...timeCells(clock, panels?.queries.date as number),
					at + 1,
					vocabulary.tokens[token]?.code ?? "",
					codeName(vocabulary, token),
					probability,
					...(base ? [Math.exp(base.atDate[token] as number)] : []),
				]),
			]}
		>
			{panels ? (
				<>
					<LikelyList {...list} panels={panels} />
					<BarsDrawing
						bars={panels.top.map(({ token, probability }) => ({
							name: codeName(vocabulary, token),
							value: probability,
						}))}
					/>
				</>
			) : (
				waiting
			)}
		</Panel>
	);
}

type LikelyListProps = Omit<LikelyPanelProps, "waiting" | "clock" | "state" | "panels"> & {
	readonly panels: Panels;
};

/** The ten most likely codes at the date; a click draws the curve of one. */
function LikelyList({ panels, base, vocabulary, codes, colourOf, onCode }: LikelyListProps) {
	const most = panels.top[0]?.probability ?? 1;
	return (
		<ol className="ranked likely">
			{panels.top.map(({ token, probability }) => {
				const on = codes.includes(token);
				const change = base ? probability - Math.exp(base.atDate[token] as number) : null;
				const colour = colourOf(token);
				return (
					<li key={token} data-token={token} data-probability={probability}>
						<button
							type="button"
							aria-pressed={on}
							title={on ? "Its probability is drawn; click to remove it" : "Draw its probability"}
							onClick={() => onCode(token, !on)}
							{...(colour && { style: { "--own": colour } as React.CSSProperties })}
						>
							<span className="likely-bar" style={{ width: `${(100 * probability) / most}%` }} />
							<span className="likely-name">
								{codeName(vocabulary, token)}{" "}
								<span className="quiet">{vocabulary.tokens[token]?.code}</span>
							</span>
							<span className="likely-value">
								{percent(probability)}
								{change !== null && (
									<span
										className={`change ${Math.abs(change) < 5e-5 ? "" : change > 0 ? "up" : "down"}`}
									>
										{pointsText(change)}
									</span>
								)}
							</span>
						</button>
					</li>
				);
			})}
		</ol>
	);
}
