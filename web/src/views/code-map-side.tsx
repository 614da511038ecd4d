import { Fragment, useId } from "react";
import type { CodeMatch } from "../../../src/data/codes/search.js";
import type { Vocabulary } from "../../../src/data/cohort/vocabulary.js";
import { counted } from "../../../src/evaluate/charts/numbers.js";
import type { ScatterGroup } from "../charts/scatter.js";
import { SymbolMark } from "../charts/symbol-mark.js";
import { codeName } from "./code-name.js";
import { ColourChoice } from "./colour-choice.js";

interface CodeMapSideProps {
	readonly vocabulary: Vocabulary;
	readonly text: string;
	/** Null if nothing is searched for. */
	readonly found: readonly CodeMatch[] | null;
	readonly chosen: number | null;
	/** What colours show, and what they can show. */
	readonly colour: string;
	readonly colours: Readonly<Record<string, string>>;
	readonly onText: (text: string) => void;
	readonly onChoose: (token: number) => void;
	readonly onColour: (colour: string) => void;
}

const most = 12;

/** A name that may be broken after a slash. */
const breakable = (name: string) =>
	name.split("/").map((part, at) => (
		<Fragment key={part}>
			{at > 0 && (
				<>
					/<wbr />
				</>
			)}
			{part}
		</Fragment>
	));

/** Next to the map: a search with its results, and what colours show. */
export function CodeMapSide(props: CodeMapSideProps) {
	const { vocabulary, text, found, chosen } = props;
	const { onText, onChoose, colour, colours, onColour } = props;
	const id = useId();
	return (
		<div className="map-side">
			<div className="field">
				<label htmlFor={id}>Search</label>
				<input
					id={id}
					type="search"
					placeholder="name or number"
					value={text}
					onChange={(event) => onText(event.target.value)}
				/>
			</div>
			<ColourChoice {...{ colour, colours, onColour }} />
			{found && (
				<div>
					<p className="quiet" role="status">
						{counted(found.length, "code")} found
						{found.length > most ? `, of which ${most} are listed` : ""}
					</p>
					<ul className="found">
						{found.slice(0, most).map(({ at: token, via }) => (
							<li key={token}>
								<button
									type="button"
									className="plain-row"
									aria-pressed={token === chosen}
									onClick={() => onChoose(token)}
								>
									{codeName(vocabulary, token)}{" "}
									<span className="quiet">
										{vocabulary.tokens[token]?.code}
										{via !== undefined && ` · ${via}`}
									</span>
								</button>
							</li>
						))}
					</ul>
				</div>
			)}
		</div>
	);
}

interface CodeMapLegendProps {
	readonly groups: readonly ScatterGroup[];
	readonly category: string | null;
	readonly onCategory: (category: string | null) => void;
}

/** The groups of the codes; a click highlights one. */
export const CodeMapLegend = ({ groups, category, onCategory }: CodeMapLegendProps) => (
	<ul className="map-legend" aria-label="Colours">
		{groups.map(({ name, count, colour, symbol }) => (
			<li key={name}>
				<button
					type="button"
					className="plain-row"
					aria-pressed={category === name}
					onClick={() => onCategory(category === name ? null : name)}
				>
					<SymbolMark symbol={symbol} colour={colour} />
					<span>{breakable(name)}</span> <span className="quiet">{count}</span>
				</button>
			</li>
		))}
	</ul>
);
