import type { Token, Vocabulary } from "../../../src/data/cohort/vocabulary.js";
import type { Clock } from "../../../src/evaluate/charts/clock.js";
import { counted, percent } from "../../../src/evaluate/charts/numbers.js";
import { usualYears } from "../../../src/predict/user-input/moments.js";
import type { MapCode } from "../data/contract.js";
import { afterYears, riskOf } from "../engine/risks.js";
import type { OnMap } from "../engine/use-on-map.js";
import { momentText } from "../parts/words.js";
import { codeName } from "./code-name.js";

interface ChosenCodeProps {
	readonly place: MapCode;
	readonly vocabulary: Vocabulary;
	/** The name of the current patient; null if there is none. */
	readonly patient: string | null;
	readonly clock: Clock | null;
	readonly risks: OnMap["risks"];
	/** Whether its risk is shown in the Patient view. */
	readonly followed: boolean;
	readonly onCode: (token: number, on: boolean) => void;
	readonly onChoose: (token: number) => void;
}

/** One code of the map: its risk for the current patient, and its nearest codes in the model's space. */
export function ChosenCode(props: ChosenCodeProps) {
	const { place, vocabulary, patient, clock, risks, followed, onCode, onChoose } = props;
	const { token, near } = place;
	const { code, category, count } = vocabulary.tokens[token] as Token;
	return (
		<div className="map-chosen">
			<h3>
				{codeName(vocabulary, token)} <span className="quiet">{code}</span>
			</h3>
			<p>
				{category ?? "no category"}, {counted(count, "record")} in training.
			</p>
			{patient !== null && risks && clock && (
				<p>{riskWords(risks, token, patient, (time) => momentText(clock, time))}</p>
			)}
			<button type="button" className="small" onClick={() => onCode(token, !followed)}>
				{followed ? "Remove its risk from the Patient view" : "Show its risk in the Patient view"}
			</button>
			<p className="quiet">Most alike for the model (1 is the same):</p>
			<ul className="found">
				{near.map(({ token: other, likeness }) => (
					<li key={other}>
						<button type="button" className="plain-row" onClick={() => onChoose(other)}>
							{codeName(vocabulary, other)} <span className="quiet">{likeness.toFixed(2)}</span>
						</button>
					</li>
				))}
			</ul>
		</div>
	);
}

/** The risk of a code for a patient, in a sentence. */
export function riskWords(
	{ table, model }: NonNullable<OnMap["risks"]>,
	token: number,
	patient: string,
	momentOf: (time: number) => string,
): string {
	const { recordedAt, curve, sameAgeAndSex } = riskOf(table, model, token);
	const on = momentOf(table.date);
	if (recordedAt !== null)
		return `${patient}, on ${on}: already recorded, ${momentOf(recordedAt)}.`;
	const years = usualYears.filter((one) => afterYears(curve, one) !== undefined);
	const at = (risks: readonly number[]) =>
		years.map((one) => percent(afterYears(risks, one) ?? 0)).join(", ");
	const others = sameAgeAndSex ? `; people of this age and sex: ${at(sameAgeAndSex)}` : "";
	return `${patient}, on ${on}: a risk of ${at(curve)} within ${years.join(", ")} years${others}.`;
}
