import { useRef } from "react";
import type { Vocabulary } from "../../../src/data/cohort/vocabulary.js";
import { percent } from "../../../src/evaluate/charts/numbers.js";
import type { NamedCurve } from "../charts/probability-chart.js";
import { ChipList } from "../parts/chip-list.js";
import { CodePicker } from "../parts/code-picker.js";
import { pointsText } from "../parts/words.js";

interface CodeChipsProps {
	readonly curves: readonly NamedCurve[];
	/** The end of the day of prediction. */
	readonly until: number;
	readonly horizonYears: number;
	readonly vocabulary: Vocabulary;
	/** Whether codes are added here. */
	readonly picks: boolean;
	readonly onCode: (token: number, on: boolean) => void;
}

/** The codes whose probability is drawn, with its value now and at the horizon, and the effect of the edits. */
export function CodeChips(props: CodeChipsProps) {
	const { curves, until, horizonYears, vocabulary, picks, onCode } = props;
	const ref = useRef<HTMLElement>(null);
	return (
		<section
			className="chips"
			aria-label="Codes whose probability is drawn"
			tabIndex={-1}
			ref={ref}
		>
			<ChipList
				label="Chosen codes"
				onEmpty={() => ref.current?.focus()}
				chips={curves.map(({ token, name, colour, times, probability, base }) => {
					const at = times.indexOf(until);
					const now = probability[at] as number;
					return {
						key: token,
						colour,
						content: (
							<>
								<span className="chip-name">{name}</span>
								<span className="chip-value" data-token={token} data-probability={now}>
									{percent(now)}
									{base && ` (${pointsText(now - (base.probability[at] as number))})`}
									<span className="quiet">
										{" "}
										→ {percent(probability.at(-1) as number)} in{" "}
										{horizonYears === 1 ? "1 year" : `${horizonYears} years`}
									</span>
								</span>
							</>
						),
						removal: `Leave out ${name}`,
						onRemove: () => onCode(token, false),
					};
				})}
			/>
			{picks && (
				<CodePicker
					label="Add a code to the chart"
					placeholder="stroke, COPD, I50.9 …"
					vocabulary={vocabulary}
					onPick={(token) => onCode(token, true)}
				/>
			)}
		</section>
	);
}
