import { useState } from "react";
import type { Vocabulary } from "../../../src/data/cohort/vocabulary.js";
import type { Clock } from "../../../src/evaluate/charts/clock.js";
import { counted } from "../../../src/evaluate/charts/numbers.js";
import type { Calls } from "../../../src/predict/library/calls.js";
import type { NamedCurve } from "../charts/probability-chart.js";
import type { History } from "../data/patient.js";
import { type Driver, driversAt } from "../engine/drivers.js";
import { endOfDay } from "../engine/index-day.js";
import { momentText, pointsText } from "../parts/words.js";
import { codeName } from "./code-name.js";

interface DriversListProps {
	readonly calls: Calls;
	readonly history: History;
	readonly date: number;
	readonly curves: readonly NamedCurve[];
	readonly vocabulary: Vocabulary;
	readonly clock: Clock;
}

/** The drivers of one history at one date, once they are requested. */
interface Explanation {
	readonly history: History;
	readonly date: number;
	readonly outcome: readonly Driver[] | { readonly failed: string } | "busy";
}

const most = 5;

/** What drives a probability at the date: the effect of each of the last events. Computed on request, as it takes a while. */
export function DriversList({ calls, history, date, curves, vocabulary, clock }: DriversListProps) {
	const [latest, setLatest] = useState<Explanation | null>(null);
	const outcome = latest?.history === history && latest.date === date ? latest.outcome : null;
	const explain = async () => {
		const requested: Explanation = { history, date, outcome: "busy" };
		setLatest(requested);
		const found = await driversAt(calls, history, endOfDay(date)).catch((error: Error) => ({
			failed: error.message,
		}));
		setLatest((now) => (now === requested ? { ...requested, outcome: found } : now));
	};
	if (outcome === null || outcome === "busy" || "failed" in outcome)
		return (
			<div aria-live="polite">
				<button type="button" onClick={explain} aria-disabled={outcome === "busy"}>
					{outcome === "busy"
						? "Leaving out events, one at a time…"
						: `What drives these probabilities at ${momentText(clock, date)}?`}
				</button>
				{outcome !== null && outcome !== "busy" && (
					<p>The drivers could not be computed: {outcome.failed}</p>
				)}
			</div>
		);
	return (
		<div className="drivers" aria-live="polite">
			<p className="quiet">
				The probability at {momentText(clock, date)} minus the probability without one event, in
				percentage points. {attributedText(outcome.length, history, date)} This shows what drives
				the model’s prediction, not what causes a disease.
			</p>
			{curves.map(({ token, name, colour }) => {
				const effects = outcome
					.map(({ at, effect }) => ({ at, effect: effect[token] as number }))
					.filter(({ effect }) => Math.abs(effect) >= 5e-5)
					.sort((a, b) => Math.abs(b.effect) - Math.abs(a.effect))
					.slice(0, most);
				return (
					<div key={token}>
						<h3 style={{ color: colour }}>{name}</h3>
						{effects.length === 0 ? (
							<p className="quiet">No event changes it by 0.005 points or more.</p>
						) : (
							<ul>
								{effects.map(({ at, effect }) => (
									<li key={at}>
										<span className={`change ${effect > 0 ? "up" : "down"}`}>
											{pointsText(effect)}
										</span>
										<span>
											{codeName(vocabulary, history.tokens[at] as number)}{" "}
											<span className="quiet">
												{momentText(clock, history.times[at] as number)}
											</span>
										</span>
									</li>
								))}
							</ul>
						)}
					</div>
				);
			})}
		</div>
	);
}

/** `The last 31 of 120 events up to it were left out in turn.` */
export function attributedText(tried: number, history: History, date: number): string {
	const until = endOfDay(date);
	const known = history.times.slice(history.birthEvents).filter((time) => time < until).length;
	if (known === 0) return "Nothing is recorded up to it.";
	return tried < known
		? `The last ${tried} of ${counted(known, "event")} up to it were left out in turn.`
		: `${known === 1 ? "The one event" : `All ${counted(known, "event")}`} up to it ${known === 1 ? "was left out." : "were left out in turn."}`;
}
