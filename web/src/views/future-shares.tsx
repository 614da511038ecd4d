import { useId, useState } from "react";
import type { Vocabulary } from "../../../src/data/cohort/vocabulary.js";
import { percent } from "../../../src/evaluate/charts/numbers.js";
import { usualYears } from "../../../src/predict/user-input/moments.js";
import { type DrawnFutures, futureCount, reachesYears, shareWithin } from "../engine/futures.js";
import { afterYears, type CodeRisk } from "../engine/risks.js";
import { codeName } from "./code-name.js";

interface FutureSharesProps {
	/** As far as they are drawn; null until some are. */
	readonly drawn: DrawnFutures | { readonly failed: string } | null;
	readonly date: number;
	/** The risks of the chosen conditions on the date; empty until they are known. */
	readonly risks: readonly CodeRisk[];
	readonly vocabulary: Vocabulary;
	readonly colourOf: (token: number) => string | undefined;
}

/** The share of futures that reach each chosen condition, beside the model’s risk. */
export function FutureShares(props: FutureSharesProps) {
	const { drawn, date, risks, vocabulary, colourOf } = props;
	const id = useId();
	const [years, setYears] = useState<number>(5);
	const shown = drawn && "futures" in drawn ? drawn : null;
	const futures = shown && reachesYears(shown, date, years) ? shown.futures : null;
	const share = (token?: number) =>
		futures ? `${Math.round(100 * shareWithin(futures, date, years, token))} %` : "…";
	const open = risks.filter(({ recordedAt }) => recordedAt === null);
	return (
		<div className="future-shares" aria-busy={!drawn || shown?.isComplete === false}>
			<p>
				<label htmlFor={id}>Share of {futureCount} futures with a first record within</label>
				<select id={id} value={years} onChange={(event) => setYears(Number(event.target.value))}>
					{usualYears.map((own) => (
						<option key={own} value={own}>
							{own === 1 ? "1 year" : `${own} years`}
						</option>
					))}
				</select>
				<span className="quiet">grey: the model’s risk · died: {share()}</span>
			</p>
			{drawn && "failed" in drawn && <p>The futures could not be drawn: {drawn.failed}</p>}
			<ul aria-live="polite">
				{open.map(({ token, curve }) => {
					const risk = afterYears(curve, years);
					return (
						<li key={token}>
							<span className="future-name" style={{ color: colourOf(token) }}>
								{codeName(vocabulary, token)}
							</span>
							<strong data-share={token}>{share(token)}</strong>
							<span className="quiet">
								<span className="hidden">risk: </span>
								{risk === undefined ? "–" : percent(risk)}
							</span>
						</li>
					);
				})}
			</ul>
			<p className="quiet future-legend">
				Bars: share of futures with a record. Ticks in colour: chosen conditions. Ticks at the foot:
				deaths.
			</p>
		</div>
	);
}
