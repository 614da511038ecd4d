import type { Vocabulary } from "../../../src/data/cohort/vocabulary.js";
import type { Clock } from "../../../src/evaluate/charts/clock.js";
import { type NamedCurve, type NumberedRise, riseText } from "../charts/probability-chart.js";
import type { History } from "../data/patient.js";
import { codeName } from "./code-name.js";

interface RisesListProps {
	readonly rises: readonly NumberedRise[];
	readonly curves: readonly NamedCurve[];
	readonly history: History;
	readonly vocabulary: Vocabulary;
	readonly clock: Clock;
}

/** The largest rises of the probabilities, and what was recorded then. */
export function RisesList({ rises, curves, history, vocabulary, clock }: RisesListProps) {
	if (rises.length === 0) return <p className="quiet">No rise stands out.</p>;
	return (
		<ol className="rises">
			{rises.map((rise) => {
				const names = [
					...new Set(rise.events.map((at) => codeName(vocabulary, history.tokens[at] as number))),
				];
				const { name, colour } = curves[rise.curve] as NamedCurve;
				return (
					<li key={rise.number}>
						<span className="rise-number" style={{ borderColor: colour }} aria-hidden="true">
							{rise.number}
						</span>
						<span>
							<strong style={{ color: colour }}>{name}</strong>, {riseText(clock, rise)}:{" "}
							{names.length === 0
								? "nothing recorded, time alone"
								: `${names.slice(0, 5).join(", ")}${names.length > 5 ? ` and ${names.length - 5} more` : ""}`}
						</span>
					</li>
				);
			})}
		</ol>
	);
}
