import { useEffect, useState } from "react";
import type { BrowserModel } from "../../../src/browser/index.js";
import type { Vocabulary } from "../../../src/cohort/vocabulary.js";
import type { Clock } from "../../../src/figures/clock.js";
import type { NamedCurve } from "../charts/risk-chart.js";
import type { History } from "../data/patient.js";
import { type Driver, driversAt, mostExplained } from "../engine/drivers.js";
import { momentText, pointsText } from "../parts/words.js";

interface DriversListProps {
	readonly model: BrowserModel;
	readonly history: History;
	readonly date: number;
	readonly curves: readonly NamedCurve[];
	readonly vocabulary: Vocabulary;
	readonly clock: Clock;
}

const most = 5;

/** What moves a risk at the date: had each of the last events not been recorded. Asked for, as it takes a while. */
export function DriversList({ model, history, date, curves, vocabulary, clock }: DriversListProps) {
	const [found, setFound] = useState<readonly Driver[] | "busy" | null>(null);
	useEffect(() => setFound(null), [history, date]);
	const explain = async () => {
		setFound("busy");
		const drivers = await driversAt(model, history, date).catch(() => null);
		setFound((now) => (now === "busy" ? drivers : now));
	};
	if (!Array.isArray(found))
		return (
			<button type="button" onClick={explain} disabled={found === "busy"}>
				{found === "busy"
					? "Leaving out events, one at a time…"
					: "What moves these risks at the date?"}
			</button>
		);
	return (
		<div className="drivers">
			<p className="quiet">
				The risk at the date, less what it would be had one event not been recorded, in percentage
				points; the last {mostExplained} events before it were tried. It says what moves the model,
				not what causes a disease.
			</p>
			{curves.map(({ token, name, colour }) => {
				const effects = (found as readonly Driver[])
					.map(({ at, effect }) => ({ at, effect: effect[token] as number }))
					.filter(({ effect }) => Math.abs(effect) >= 5e-5)
					.sort((a, b) => Math.abs(b.effect) - Math.abs(a.effect))
					.slice(0, most);
				return (
					<div key={token}>
						<h3 style={{ color: colour }}>{name}</h3>
						{effects.length === 0 ? (
							<p className="quiet">No single event matters.</p>
						) : (
							<ul>
								{effects.map(({ at, effect }) => (
									<li key={at}>
										<span className={`change ${effect > 0 ? "up" : "down"}`}>
											{pointsText(effect)}
										</span>{" "}
										{vocabulary.tokens[history.tokens[at] as number]?.name}{" "}
										<span className="quiet">{momentText(clock, history.times[at] as number)}</span>
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
