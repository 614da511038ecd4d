import { useState } from "react";
import type { Calls } from "../../../src/browser/index.js";
import type { Vocabulary } from "../../../src/cohort/vocabulary.js";
import type { Clock } from "../../../src/figures/clock.js";
import { counted } from "../../../src/figures/numbers.js";
import type { NamedCurve } from "../charts/risk-chart.js";
import type { History } from "../data/patient.js";
import { type Driver, driversAt } from "../engine/drivers.js";
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

/** What was asked for, of one history at one date, and what became of it. */
interface Explanation {
	readonly history: History;
	readonly date: number;
	readonly outcome: readonly Driver[] | { readonly failed: string } | "busy";
}

const most = 5;

/** What moves a risk at the date: had each of the last events not been recorded. ModelCalls for, as it takes a while. */
export function DriversList({ calls, history, date, curves, vocabulary, clock }: DriversListProps) {
	const [latest, setLatest] = useState<Explanation | null>(null);
	const outcome = latest?.history === history && latest.date === date ? latest.outcome : null;
	const explain = async () => {
		const asked: Explanation = { history, date, outcome: "busy" };
		setLatest(asked);
		const found = await driversAt(calls, history, date).catch((error: Error) => ({
			failed: error.message,
		}));
		setLatest((now) => (now === asked ? { ...asked, outcome: found } : now));
	};
	if (outcome === null || outcome === "busy" || "failed" in outcome)
		return (
			<div aria-live="polite">
				<button type="button" onClick={explain} aria-disabled={outcome === "busy"}>
					{outcome === "busy"
						? "Leaving out events, one at a time…"
						: `What moves these risks at ${momentText(clock, date)}?`}
				</button>
				{outcome !== null && outcome !== "busy" && (
					<p>It could not be worked out: {outcome.failed}</p>
				)}
			</div>
		);
	return (
		<div className="drivers" aria-live="polite">
			<p className="quiet">
				The risk at {momentText(clock, date)}, less what it would be had one event not been
				recorded, in percentage points. {attributedText(outcome.length, history, date)} It says what
				moves the model, not what causes a disease.
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
							<p className="quiet">None of them moves it by 0.005 points.</p>
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

/** `The last 31 of 120 events before it were tried.` */
export function attributedText(tried: number, history: History, date: number): string {
	const known = history.times.slice(history.birthEvents).filter((time) => time < date).length;
	if (known === 0) return "Nothing is recorded before it.";
	return tried < known
		? `The last ${tried} of ${counted(known, "event")} before it were tried.`
		: `${known === 1 ? "The one event" : `All ${counted(known, "event")}`} before it ${known === 1 ? "was" : "were"} tried.`;
}
