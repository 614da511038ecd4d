import { useMemo, useState } from "react";
import type { Token, Vocabulary } from "../../../src/cohort/vocabulary.js";
import { counted } from "../../../src/figures/numbers.js";
import { searchCodes } from "../../../src/infer/user-input/search-codes.js";
import { captionOf, groupsOf, Scatter, type ScatterPoint } from "../charts/scatter.js";
import type { Maps } from "../data/contract.js";
import { Notice } from "../parts/notice.js";
import { Panel } from "../parts/panel.js";
import { ChosenCode } from "./chosen-code.js";
import { CodeMapSide } from "./code-map-side.js";
import { categoryColour } from "./colours.js";

interface CodeMapProps {
	readonly maps: Maps;
	readonly vocabulary: Vocabulary;
	readonly codes: readonly number[];
	readonly onCode: (token: number, on: boolean) => void;
}

/** A map of the codes by their learned representation, with a search by number, name, synonym or category. */
export function CodeMap({ maps, vocabulary, codes, onCode }: CodeMapProps) {
	const [text, setText] = useState("");
	const [category, setCategory] = useState<string | null>(null);
	const [chosen, setChosen] = useState<number | null>(null);
	const points = useMemo(
		() =>
			maps.tokens.map(({ token, x, y }): ScatterPoint => {
				const { code, name, category, count } = vocabulary.tokens[token] as Token;
				return {
					...{ id: `${token}`, x, y },
					group: category ?? "no category",
					name: name && name !== code ? `${name} (${code})` : code,
					size: 3 + Math.min(3.5, Math.log10(1 + count)),
				};
			}),
		[maps, vocabulary],
	);
	const groups = useMemo(() => groupsOf(points, categoryColour), [points]);
	const found = useMemo(
		() => (text.trim() === "" ? null : searchCodes(text, { vocabulary })),
		[vocabulary, text],
	);
	const lit = useMemo(() => {
		if (found) return new Set(found.map(({ at }) => `${at}`));
		if (category === null) return null;
		return new Set(points.filter(({ group }) => group === category).map((point) => point.id));
	}, [found, category, points]);
	const crosses = useMemo(
		() => maps.decays.map(({ layer, head, x, y }) => ({ x, y, name: `L${layer} H${head}` })),
		[maps],
	);
	if (points.length === 0)
		return (
			<Notice kind="empty" title="No map of the codes">
				<p>This model has too few codes for a map.</p>
			</Notice>
		);
	return (
		<Panel
			title="Map of the codes"
			subtitle={`${counted(points.length, "code")} by their learned representation (UMAP): the model treats nearby codes alike; the axes have no meaning. ${crossesText(maps)}`}
			drawing
			caption={() => captionOf(groups)}
			rows={() => [
				["code", "name", "category", "records", "x", "y"],
				...maps.tokens.map(({ token, x, y }) => {
					const { code, name, category, count } = vocabulary.tokens[token] as Token;
					return [code, name, category, count, x, y];
				}),
			]}
		>
			<div className="map">
				<CodeMapSide
					{...{ vocabulary, text, found, chosen, groups, category }}
					onText={setText}
					onChoose={setChosen}
					onCategory={setCategory}
				/>
				<div className="map-main">
					<Scatter
						points={points}
						groups={groups}
						crosses={crosses}
						lit={lit}
						chosen={chosen === null ? null : `${chosen}`}
						onChoose={(point) => setChosen(Number(point))}
						label={`Map of ${points.length} codes in ${groups.length} categories`}
					/>
					<div aria-live="polite">
						{chosen !== null && (
							<ChosenCode
								{...{ maps, vocabulary, token: chosen, drawn: codes.includes(chosen), onCode }}
							/>
						)}
					</div>
				</div>
			</div>
		</Panel>
	);
}

/** Which heads' decay vectors are marked: the map has those of some layers only. */
function crossesText({ decays }: Maps): string {
	const layers = [...new Set(decays.map(({ layer }) => layer))];
	if (layers.length === 0) return "";
	const of = `${layers.length === 1 ? "layer" : "layers"} ${layers.join(", ")}`;
	return `Crosses: the decay vectors of the heads (H) of ${of} (L), each near the codes after which that head remembers longest.`;
}
