import type { Vocabulary } from "../../../src/cohort/vocabulary.js";
import { percent } from "../../../src/figures/numbers.js";
import type { Panels } from "../engine/panels.js";
import { pointsText } from "../parts/words.js";
import { codeName } from "./code-name.js";

interface LikelyListProps {
	readonly panels: Panels;
	/** Of the original history, to compare with. */
	readonly base: Panels | null;
	readonly vocabulary: Vocabulary;
	readonly codes: readonly number[];
	readonly colourOf: (token: number) => string | undefined;
	readonly onCode: (token: number, on: boolean) => void;
}

/** The ten most likely codes at the date; a click draws the risk of one. */
export function LikelyList(props: LikelyListProps) {
	const { panels, base, vocabulary, codes, colourOf, onCode } = props;
	const most = panels.top[0]?.probability ?? 1;
	return (
		<ol className="likely">
			{panels.top.map(({ token, probability }) => {
				const on = codes.includes(token);
				const change = base ? probability - Math.exp(base.atDate[token] as number) : null;
				const colour = colourOf(token);
				return (
					<li key={token} data-token={token} data-probability={probability}>
						<button
							type="button"
							aria-pressed={on}
							title={on ? "Its risk is drawn; click to remove it" : "Draw its risk"}
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
