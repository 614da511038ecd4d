import { useMemo, useState } from "react";
import { yearDays } from "../../../src/base/time.js";
import { counted, percent } from "../../../src/evaluate/charts/numbers.js";
import type { RunningExport } from "../../../src/predict/browser/open-export.js";
import type { People, PersonState } from "../data/contract.js";
import { loadedValue, useJson } from "../data/use-loaded.js";
import { idleMilliseconds, useAnswer } from "../engine/answers.js";
import { ageRange, onsetsOf, peopleLike, type SimilarPeople, vectorsOf } from "../engine/people.js";
import { afterYears, type RiskRequest } from "../engine/risks.js";
import { Button } from "../parts/button.js";
import { Notice } from "../parts/notice.js";
import { Panel } from "../parts/panel.js";
import { type codeWords, usePatient } from "../state/patient-context.js";
import { AnswerPanel } from "./answer-panel.js";

const [followedYears, maxLines] = [5, 8];

/** What happened to people like this one. The document is fetched when it is asked for. */
export function PeoplePanel() {
	const { request, riskModel } = usePatient();
	const [isAsked, setAsked] = useState(false);
	if (request.history.birthEvents === 0 || !riskModel) return null;
	return isAsked ? (
		<FetchedPeople />
	) : (
		<Panel title="People like this one" subtitle="what happened to them afterwards">
			<Button onClick={() => setAsked(true)}>Find people like this one</Button>
		</Panel>
	);
}

function FetchedPeople() {
	const { model } = usePatient();
	const loaded = useJson<{ readonly people: People | null }>("explorer/people.json");
	const people = loadedValue(loaded)?.people;
	if (model && people && people.states.length > 0)
		return <NearestPeople people={people} model={model} />;
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

interface NearestPeopleProps {
	readonly people: People;
	readonly model: RunningExport;
}

function NearestPeople({ people, model: { calls, opened } }: NearestPeopleProps) {
	const { request, answer: risks, nameOf, codeOf, colourOf } = usePatient();
	const simulated = opened.manifest.population !== undefined;
	const current = risks.isCurrent ? risks.latest?.result.risks : undefined;
	const compute = useMemo(() => {
		const vectors = vectorsOf(people);
		return (query: RiskRequest) => peopleLike(calls, people, vectors, query);
	}, [calls, people]);
	const answer = useAnswer(request, compute, idleMilliseconds);
	const similar = answer.latest?.result;
	return (
		<AnswerPanel
			title="People like this one"
			subtitle={similar ? subtitle(similar, simulated, request.sex !== null) : "…"}
			className="people-panel"
			answer={answer}
			failure="They could not be found"
			rows={similar && (() => peopleRows(similar.nearest, { nameOf, codeOf }))}
		>
			{({ nearest }) => (
				<div className="people">
					<div aria-live="polite">
						<p className="quiet">
							First record within {followedYears} years, of those without one before; grey: the
							model’s risk.
						</p>
						<ul className="people-shares">
							{(current ?? [])
								.filter(({ recordedAt }) => recordedAt === null)
								.map(({ token, curve }) => {
									const { got, atRisk } = onsetsOf(nearest, token);
									const risk = afterYears(curve, followedYears);
									return (
										<li key={token}>
											<span className="condition-name" style={{ color: colourOf(token) }}>
												{nameOf(token)}
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
								<span className="condition-name">death</span>
								<strong>
									{nearest.filter(({ death }) => death !== null).length} of {nearest.length}
								</strong>
							</li>
						</ul>
						<p className="quiet">
							This is not the model’s risk: {nearest.length} people are few, and they are alike as
							the model sees them.
						</p>
					</div>
					<div>
						<p className="quiet">
							The {Math.min(maxLines, nearest.length)} nearest, and first records afterwards. Click
							for the history before.
						</p>
						<ul className="people-lines" aria-label="The nearest people">
							{nearest.slice(0, maxLines).map((person) => (
								<li key={person.person}>
									<details>
										<summary>
											{personText(person)}:{" "}
											<span className="quiet">{afterText(person, nameOf, 3)}</span>
										</summary>
										<p>
											<strong>Before:</strong> {knownText(person, nameOf)}
										</p>
										<p>
											<strong>After:</strong> {afterText(person, nameOf)}
										</p>
									</details>
								</li>
							))}
						</ul>
					</div>
				</div>
			)}
		</AnswerPanel>
	);
}

const subtitle = ({ nearest, compared }: SimilarPeople, simulated: boolean, hasSex: boolean) =>
	`the ${nearest.length} nearest in the model’s representation, of ${compared} ${simulated ? "simulated " : ""}people of the test split${hasSex ? " of the same sex" : ""}, at most ${ageRange} years older or younger, followed for ${followedYears} years`;

const peopleRows = (
	people: readonly PersonState[],
	{ nameOf, codeOf }: ReturnType<typeof codeWords>,
) =>
	people.flatMap(({ ageYears: age, sex, after, afterDays, death }, at) => {
		const person = { rank: at + 1, age, sex };
		return [
			...after.map((token, index) => ({
				...person,
				days: afterDays[index],
				code: codeOf(token),
				name: nameOf(token),
			})),
			...(death === null ? [] : [{ ...person, days: death, code: "", name: "death" }]),
		];
	});

type NameOf = (token: number) => string;

/** Female, age 57.3 */
export const personText = ({ sex, ageYears }: PersonState): string =>
	`${sex ? `${sex[0]?.toUpperCase()}${sex.slice(1)}` : "Person"}, age ${ageYears.toFixed(1)}`;

/** What was recorded up to the index day. */
export const knownText = ({ known }: PersonState, nameOf: NameOf): string =>
	known.length === 0 ? "nothing recorded" : known.map(nameOf).join(", ");

/** First records and death afterwards: Hypertension (0.4 years), Asthma (1.2 years), and 3 more */
export function afterText(
	{ after, afterDays, death }: PersonState,
	nameOf: NameOf,
	most = Number.POSITIVE_INFINITY,
): string {
	const years = (days: number) =>
		days < yearDays / 10
			? `(${counted(Math.round(days), "day")})`
			: `(${(days / yearDays).toFixed(1)} years)`;
	const all = [
		...after.map((token, at) => `${nameOf(token)} ${years(afterDays[at] as number)}`),
		...(death === null ? [] : [`death ${years(death)}`]),
	];
	if (all.length === 0) return "nothing new within five years";
	const more = all.length - most;
	return `${all.slice(0, most).join(", ")}${more > 0 ? `, and ${more} more` : ""}`;
}
