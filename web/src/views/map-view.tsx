import { useId, useMemo, useState } from "react";
import { specialCount, type Token, type Vocabulary } from "../../../src/cohort/vocabulary.js";
import { groupBy } from "../../../src/figures/group.js";
import { counted, thousands } from "../../../src/figures/numbers.js";
import { Scatter, type ScatterPoint } from "../charts/scatter.js";
import { isHollow, symbolPath } from "../charts/symbols.js";
import type { Maps } from "../data/contract.js";
import { useJson } from "../data/use-json.js";
import { Notice } from "../parts/notice.js";
import { Panel } from "../parts/panel.js";
import { searchCodes } from "../parts/search-codes.js";
import { categoryColour } from "./colours.js";

interface MapViewProps {
	readonly vocabulary: Vocabulary | null;
	readonly codes: readonly number[];
	readonly onCode: (token: number, on: boolean) => void;
}

/** What the model has put together: codes, and patients. */
export function MapView({ vocabulary, codes, onCode }: MapViewProps) {
	const maps = useJson<Maps>("explorer/maps.json");
	if (maps.state === "error")
		return (
			<Notice kind="error" title="The maps could not be loaded">
				<p>{maps.message}</p>
			</Notice>
		);
	if (maps.state === "loading" || !vocabulary)
		return <Notice kind="loading" title="Loading the maps…" />;
	return (
		<>
			<CodeMap maps={maps.value} vocabulary={vocabulary} codes={codes} onCode={onCode} />
			<PatientMap patients={maps.value.patients} />
		</>
	);
}

interface CodeMapProps extends MapViewProps {
	readonly maps: Maps;
	readonly vocabulary: Vocabulary;
}

function CodeMap({ maps, vocabulary, codes, onCode }: CodeMapProps) {
	const id = useId();
	const [text, setText] = useState("");
	const [category, setCategory] = useState<string | null>(null);
	const [chosen, setChosen] = useState<number | null>(null);
	const tokenOf = (token: number) => vocabulary.tokens[token] as Token;
	const points = useMemo(
		() =>
			maps.tokens.map(({ token, x, y }): ScatterPoint => {
				const { code, name, category, count } = vocabulary.tokens[token] as Token;
				const size = 3 + Math.min(3.5, Math.log10(1 + count));
				return {
					id: `${token}`,
					x,
					y,
					group: category ?? "no category",
					name: `${name || code} (${code})`,
					size,
				};
			}),
		[maps, vocabulary],
	);
	const groups = useMemo(
		() =>
			[...groupBy(points, ({ group }) => group)]
				.sort(([, a], [, b]) => b.length - a.length)
				.map(([name, of], at) => ({
					name,
					count: of.length,
					colour: categoryColour(at),
					symbol: at,
				})),
		[points],
	);
	const found = useMemo(
		() => (text.trim() === "" ? [] : searchCodes(vocabulary.tokens, specialCount, text, 40)),
		[vocabulary, text],
	);
	const lit = useMemo(() => {
		if (text.trim() !== "") return new Set(found.map(String));
		if (category === null) return null;
		return new Set(points.filter(({ group }) => group === category).map((point) => point.id));
	}, [text, found, category, points]);
	const near = useMemo(() => (chosen === null ? [] : nearestTo(maps, chosen, 6)), [maps, chosen]);
	const crosses = useMemo(
		() => maps.decays.map(({ layer, head, x, y }) => ({ x, y, name: `L${layer} H${head}` })),
		[maps],
	);
	if (points.length === 0)
		return (
			<Notice kind="empty" title="There is no map of the codes">
				<p>This model has too few codes for one.</p>
			</Notice>
		);
	return (
		<Panel
			title="Map of the codes"
			subtitle={`${counted(points.length, "code")} by what the model learned of them (UMAP): what lies together is treated alike; the axes mean nothing. Crosses: where the decay of each head (layer, head) points.`}
			drawing
			rows={() => [
				["code", "name", "category", "records", "x", "y"],
				...maps.tokens.map(({ token, x, y }) => {
					const { code, name, category, count } = tokenOf(token);
					return [code, name, category, count, x, y];
				}),
			]}
		>
			<div className="map">
				<div className="map-side">
					<div className="field">
						<label htmlFor={id}>Search</label>
						<input
							id={id}
							type="search"
							placeholder="name, number or category"
							value={text}
							onChange={(event) => setText(event.target.value)}
						/>
					</div>
					{text.trim() !== "" ? (
						<div>
							<p className="quiet" role="status">
								{counted(found.length, "code")} found
							</p>
							<ul className="found">
								{found.slice(0, 12).map((token) => (
									<li key={token}>
										<button
											type="button"
											className="plain-row"
											aria-pressed={token === chosen}
											onClick={() => setChosen(token)}
										>
											{tokenOf(token).name || tokenOf(token).code}{" "}
											<span className="quiet">{tokenOf(token).code}</span>
										</button>
									</li>
								))}
							</ul>
						</div>
					) : (
						<ul className="map-legend" aria-label="Categories">
							{groups.map(({ name, count, colour, symbol }) => (
								<li key={name}>
									<button
										type="button"
										className="plain-row"
										aria-pressed={category === name}
										onClick={() => setCategory(category === name ? null : name)}
									>
										<svg width={14} height={14} viewBox="-7 -7 14 14" aria-hidden="true">
											<path
												d={symbolPath(symbol, 4.4)}
												fill={isHollow(symbol) ? "var(--surface)" : colour}
												stroke={colour}
												strokeWidth={1.4}
											/>
										</svg>
										{name} <span className="quiet">{count}</span>
									</button>
								</li>
							))}
						</ul>
					)}
				</div>
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
							<div className="map-chosen">
								<h3>
									{tokenOf(chosen).name || tokenOf(chosen).code}{" "}
									<span className="quiet">{tokenOf(chosen).code}</span>
								</h3>
								<p>
									{tokenOf(chosen).category ?? "no category"},{" "}
									{counted(tokenOf(chosen).count, "record")} in training. Nearest on the map:{" "}
									{near.map((token) => tokenOf(token).name || tokenOf(token).code).join("; ")}.
								</p>
								<button type="button" onClick={() => onCode(chosen, !codes.includes(chosen))}>
									{codes.includes(chosen)
										? "Leave its risk out of the Patient view"
										: "Draw its risk in the Patient view"}
								</button>
							</div>
						)}
					</div>
				</div>
			</div>
		</Panel>
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

function PatientMap({ patients }: Pick<Maps, "patients">) {
	const points = useMemo(
		() =>
			patients.map(({ x, y, groups }, at): ScatterPoint => {
				const group = groups.join(", ") || "patients";
				return { id: `${at}`, x, y, group, name: "a patient", size: 3.2 };
			}),
		[patients],
	);
	const groups = useMemo(
		() =>
			[...groupBy(points, ({ group }) => group)]
				.sort(([, a], [, b]) => b.length - a.length)
				.map(([name, of], at) => ({
					name,
					count: of.length,
					colour: at === 0 ? "var(--neutral)" : `var(--curve-${((at + 0) % 5) + 1})`,
					symbol: at,
				})),
		[points],
	);
	const drawn = useMemo(() => {
		const order = groups.map(({ name }) => name);
		return points.toSorted((a, b) => order.indexOf(a.group) - order.indexOf(b.group));
	}, [points, groups]);
	if (points.length === 0)
		return (
			<Notice kind="empty" title="There is no map of patients">
				<p>It is made where the run’s dataset is at hand: start `trajgpt serve` beside it.</p>
			</Notice>
		);
	return (
		<Panel
			title="Map of the patients"
			subtitle={`${counted(points.length, "patient")} of the test split by the model’s view of their whole history (UMAP)`}
			drawing
			rows={() => [["x", "y", "group"], ...points.map(({ x, y, group }) => [x, y, group])]}
		>
			<ul className="legend">
				{groups.map(({ name, count, colour, symbol }) => (
					<li key={name}>
						<svg width={14} height={14} viewBox="-7 -7 14 14" aria-hidden="true">
							<path d={symbolPath(symbol, 4.4)} fill={colour} />
						</svg>{" "}
						{name} <span className="quiet">{thousands(count)}</span>
					</li>
				))}
			</ul>
			<Scatter
				points={drawn}
				groups={groups}
				lit={null}
				chosen={null}
				label={`Map of ${points.length} patients: ${groups.map(({ name, count }) => `${count} ${name}`).join(", ")}`}
			/>
		</Panel>
	);
}
