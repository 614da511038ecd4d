import { useMemo, useState } from "react";
import type { Token, Vocabulary } from "../../../src/data/cohort/vocabulary.js";
import type { Clock } from "../../../src/evaluate/charts/clock.js";
import { counted } from "../../../src/evaluate/charts/numbers.js";
import { searchCodes } from "../../../src/predict/user-input/search-codes.js";
import { captionOf, groupsOf, Scatter, type ScatterPoint } from "../charts/scatter.js";
import type { MapCode, Maps } from "../data/contract.js";
import type { OnMap } from "../engine/use-on-map.js";
import { Notice } from "../parts/notice.js";
import { Panel } from "../parts/panel.js";
import { ChosenCode } from "./chosen-code.js";
import { CodeMapLegend, CodeMapSide } from "./code-map-side.js";
import { codeName } from "./code-name.js";
import { categoryColour, levelColour } from "./colours.js";
import { frequencyBins, recordedGroup, riskBins, riskGroup } from "./map-groups.js";

interface CodeMapProps {
	readonly maps: Maps;
	readonly vocabulary: Vocabulary;
	/** The name of the current patient; null if there is none. */
	readonly patient: string | null;
	readonly clock: Clock | null;
	readonly onMap: OnMap | null;
	readonly codes: readonly number[];
	readonly onCode: (token: number, on: boolean) => void;
}

/** A map of the codes by their learned representation, with a search by number, name, synonym or category. */
export function CodeMap({ maps, vocabulary, codes, onCode, patient, clock, onMap }: CodeMapProps) {
	const [text, setText] = useState("");
	const [category, setCategory] = useState<string | null>(null);
	const [chosen, setChosen] = useState<number | null>(null);
	const [colour, setColour] = useState("category");
	const risks = onMap?.risks ?? null;
	const table = risks?.table ?? null;
	const colours = {
		category: "category",
		frequency: "records in training",
		...(patient !== null && table && { risk: `5-year risk of ${patient}` }),
	};
	const shown = colour in colours ? colour : "category";
	const points = useMemo(
		() =>
			maps.tokens.map(({ token, x, y }): ScatterPoint => {
				const { category, count } = vocabulary.tokens[token] as Token;
				const groups: Readonly<Record<string, () => string>> = {
					frequency: () => frequencyBins.groupOf(count),
					risk: () => (table ? riskGroup(table, token) : ""),
				};
				return {
					...{ id: `${token}`, x, y, name: codeName(vocabulary, token) },
					group: groups[shown]?.() ?? category ?? "no category",
					size: 3 + Math.min(3.5, Math.log10(1 + count)),
					ringed: table !== null && table.recordedAt(token) !== null,
					rank: count + (token === chosen ? 1e9 : 0),
				};
			}),
		[maps, vocabulary, shown, table, chosen],
	);
	const groups = useMemo(() => {
		if (shown === "category") return groupsOf(points, categoryColour);
		const order = shown === "risk" ? [...riskBins.order, recordedGroup] : frequencyBins.order;
		return groupsOf(points, levelColour, order);
	}, [points, shown]);
	const found = useMemo(
		() => (text.trim() === "" ? null : searchCodes(text, { vocabulary })),
		[vocabulary, text],
	);
	const lit = useMemo(() => {
		if (found) return new Set(found.map(({ at }) => `${at}`));
		if (category === null) return null;
		return new Set(points.filter(({ group }) => group === category).map((point) => point.id));
	}, [found, category, points]);
	if (points.length === 0)
		return (
			<Notice kind="empty" title="No map of the codes">
				<p>This model has too few codes for a map.</p>
			</Notice>
		);
	const place = maps.tokens.find(({ token }) => token === chosen) as MapCode | undefined;
	return (
		<Panel
			title="Map of the codes"
			subtitle={`${counted(points.length, "code")} by what the model has learned of them (UMAP): it treats nearby codes alike; the axes have no meaning. Click a code for its risk and its neighbours.${patient !== null && table ? ` Rings: codes that ${patient} has.` : ""}`}
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
					{...{ vocabulary, text, found, chosen, colours }}
					colour={shown}
					onText={setText}
					onChoose={setChosen}
					onColour={(next) => {
						setColour(next);
						setCategory(null);
					}}
				/>
				<div className="map-main">
					<Scatter
						points={points}
						groups={groups}
						lit={lit}
						chosen={chosen === null ? null : `${chosen}`}
						onChoose={(point) => setChosen(Number(point))}
						label={`Map of ${points.length} codes`}
					/>
				</div>
				<div className="map-detail" aria-live="polite">
					{place ? (
						<ChosenCode
							{...{ place, vocabulary, patient, clock, risks, onCode }}
							followed={codes.includes(place.token)}
							onChoose={setChosen}
						/>
					) : (
						<p className="quiet">No code chosen. Click one, or find it by its name.</p>
					)}
				</div>
				{!found && <CodeMapLegend {...{ groups, category }} onCategory={setCategory} />}
			</div>
		</Panel>
	);
}
