import type { Token, Vocabulary } from "../../../src/cohort/vocabulary.js";
import { counted } from "../../../src/figures/numbers.js";
import type { Maps } from "../data/contract.js";
import { codeName } from "./code-name.js";

interface ChosenCodeProps {
	readonly maps: Maps;
	readonly vocabulary: Vocabulary;
	readonly token: number;
	/** Whether its probability is drawn in the Patient view. */
	readonly drawn: boolean;
	readonly onCode: (token: number, on: boolean) => void;
}

const neighbours = 6;

/** One code of the map, and its nearest neighbours. */
export function ChosenCode({ maps, vocabulary, token, drawn, onCode }: ChosenCodeProps) {
	const { code, category, count } = vocabulary.tokens[token] as Token;
	const near = nearestTo(maps, token, neighbours).map((one) => codeName(vocabulary, one));
	return (
		<div className="map-chosen">
			<h3>
				{codeName(vocabulary, token)} <span className="quiet">{code}</span>
			</h3>
			<p>
				{category ?? "no category"}, {counted(count, "record")} in training.
				{near.length > 0 && ` Nearest on the map: ${near.join("; ")}.`}
			</p>
			<button type="button" onClick={() => onCode(token, !drawn)}>
				{drawn
					? "Leave its probability out of the Patient view"
					: "Draw its probability in the Patient view"}
			</button>
		</div>
	);
}

function nearestTo({ tokens }: Maps, token: number, most: number): number[] {
	const own = tokens.find((point) => point.token === token);
	if (!own) return [];
	const distance = ({ x, y }: { readonly x: number; readonly y: number }) =>
		(x - own.x) ** 2 + (y - own.y) ** 2;
	return tokens
		.filter((point) => point.token !== token)
		.sort((a, b) => distance(a) - distance(b))
		.slice(0, most)
		.map((point) => point.token);
}
