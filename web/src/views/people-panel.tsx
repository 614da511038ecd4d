import { useState } from "react";
import type { Vocabulary } from "../../../src/data/cohort/vocabulary.js";
import { percent } from "../../../src/evaluate/charts/numbers.js";
import type { Calls } from "../../../src/predict/library/calls.js";
import type { People, PersonState } from "../data/contract.js";
import { useJson } from "../data/use-json.js";
import { ageRange, onsetsOf, type SimilarPeople } from "../engine/people.js";
import { afterYears, type CodeRisk, type PatientOnDate } from "../engine/risks.js";
import { usePeople } from "../engine/use-people.js";
import { Notice } from "../parts/notice.js";
import { Panel } from "../parts/panel.js";
import { codeName } from "./code-name.js";
import { afterText, knownText, personText } from "./people-words.js";

interface PeoplePanelProps {
	readonly calls: Calls;
	/** The patient and the date. */
	readonly request: PatientOnDate;
	/** The risks of the chosen conditions on the date; empty until they are known. */
	readonly risks: readonly CodeRisk[];
	readonly vocabulary: Vocabulary;
	readonly colourOf: (token: number) => string | undefined;
	/** Whether the people are simulated. */
	readonly simulated: boolean;
}

const [followedYears, mostLines] = [5, 8];

/** What happened to people like this one. The document is fetched when it is asked for. */
export function PeoplePanel(props: PeoplePanelProps) {
	const [isAsked, setAsked] = useState(false);
	if (props.request.history.birthEvents === 0) return null;
	return isAsked ? (
		<FetchedPeople {...props} />
	) : (
		<Panel title="People like this one" subtitle="what happened to them afterwards">
			<button type="button" onClick={() => setAsked(true)}>
				Find people like this one
			</button>
		</Panel>
	);
}

function FetchedPeople(props: PeoplePanelProps) {
	const loaded = useJson<{ readonly people: People | null }>("explorer/people.json");
	if (loaded.state === "ready" && loaded.value.people && loaded.value.people.states.length > 0)
		return <FoundPeople {...props} people={loaded.value.people} />;
	return (
		<Panel title="People like this one">
			{loaded.state === "loading" ? (
				<Notice kind="loading" title="Loading…" />
			) : loaded.state === "error" ? (
				<p>The people could not be loaded: {loaded.message}</p>
			) : (
				<p>
					Nobody to compare with. That needs the run’s dataset; people who are not simulated are
					shown only after <code>trajgpt serve RUN --samples</code>.
				</p>
			)}
		</Panel>
	);
}

function FoundPeople({ people, ...props }: PeoplePanelProps & { readonly people: People }) {
	const { calls, request, risks, vocabulary, colourOf, simulated } = props;
	const answer = usePeople(calls, people, request);
	const found = answer && "nearest" in answer.outcome ? answer.outcome : null;
	const open = risks.filter(({ recordedAt }) => recordedAt === null);
	return (
		<Panel
			title="People like this one"
			subtitle={found ? subtitle(found, simulated, request.sex !== null) : "…"}
			className="people-panel"
			state={found && answer?.request !== request ? "updating" : "current"}
			{...(found && { rows: () => peopleRows(found.nearest, vocabulary) })}
		>
			{answer && "failed" in answer.outcome && (
				<p>They could not be found: {answer.outcome.failed}</p>
			)}
			{!answer && <Notice kind="loading" title="Looking…" />}
			{found && (
				<div className="people">
					<div aria-live="polite">
						<p className="quiet">
							First record within {followedYears} years, of those without one before; grey: the
							model’s risk.
						</p>
						<ul className="people-shares">
							{open.map(({ token, curve }) => {
								const { got, atRisk } = onsetsOf(found.nearest, token);
								const risk = afterYears(curve, followedYears);
								return (
									<li key={token}>
										<span className="future-name" style={{ color: colourOf(token) }}>
											{codeName(vocabulary, token)}
										</span>
										<strong>
											{got} of {atRisk}
										</strong>
										<span className="quiet">
											<span className="hidden">risk: </span>
											{risk === undefined ? "–" : percent(risk)}
										</span>
									</li>
								);
							})}
							<li>
								<span className="future-name">death</span>
								<strong>
									{found.nearest.filter(({ death }) => death !== null).length} of{" "}
									{found.nearest.length}
								</strong>
							</li>
						</ul>
						<p className="quiet">
							This is not the model’s risk: {found.nearest.length} people are few, and they are
							alike as the model sees them.
						</p>
					</div>
					<div>
						<p className="quiet">
							The {Math.min(mostLines, found.nearest.length)} nearest, and first records afterwards.
							Click for the history before.
						</p>
						<ul className="people-lines" aria-label="The nearest people">
							{found.nearest.slice(0, mostLines).map((own) => (
								<li key={own.person}>
									<PersonLine {...{ own, vocabulary }} />
								</li>
							))}
						</ul>
					</div>
				</div>
			)}
		</Panel>
	);
}

function PersonLine({ own, vocabulary }: { own: PersonState; vocabulary: Vocabulary }) {
	const nameOf = (token: number) => codeName(vocabulary, token);
	return (
		<details>
			<summary>
				{personText(own)}: <span className="quiet">{afterText(own, nameOf, 3)}</span>
			</summary>
			<p>
				<strong>Before:</strong> {knownText(own, nameOf)}
			</p>
			<p>
				<strong>After:</strong> {afterText(own, nameOf)}
			</p>
		</details>
	);
}

const subtitle = ({ nearest, compared }: SimilarPeople, simulated: boolean, hasSex: boolean) =>
	`the ${nearest.length} nearest in the model’s representation, of ${compared} ${simulated ? "simulated " : ""}people of the test split${hasSex ? " of the same sex" : ""}, at most ${ageRange} years older or younger, followed for ${followedYears} years`;

const peopleRows = (people: readonly PersonState[], vocabulary: Vocabulary) => [
	["rank", "age", "sex", "days", "code", "name"],
	...people.flatMap(({ ageYears, sex, after, afterDays, death }, at) => [
		...after.map((token, n) => [
			...[at + 1, ageYears, sex ?? "", afterDays[n] as number],
			...[vocabulary.tokens[token]?.code ?? "", codeName(vocabulary, token)],
		]),
		...(death === null ? [] : [[at + 1, ageYears, sex ?? "", death, "", "death"]]),
	]),
];
