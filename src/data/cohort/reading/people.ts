import { InputError } from "../../../base/errors.js";
import { notesFor } from "../../records/bad-rows.js";
import type { PersonRow } from "../../records/rows.js";

/** Known facts about a person; times in days. */
export type KnownPerson = Pick<PersonRow, "birth" | "sex" | "death">;

export const nothingKnown: KnownPerson = { birth: null, sex: null, death: null };

/**
 * How many patients have contradictory records, by kind: a record before the birth (`births`), two sexes, two deaths, or a
 * record after the day of death (`late`).
 */
export type Contradictions = Readonly<Record<"births" | "sexes" | "deaths" | "late", number>>;

/** Notes on how contradictory records were resolved. */
export const peopleNotes = ({ births, sexes, deaths, late }: Contradictions): string[] =>
	notesFor([
		[births, `${births} patients have a record before their birth date: birth taken as unknown`],
		[sexes, `${sexes} patients are given two sexes: sex taken as unknown`],
		[deaths, `${deaths} patients are given two dates of death: the earlier one taken`],
		[late, `${late} patients have a record after their death: kept`],
	]);

/** The error for a patient with two different values in the source. */
export const twoOf = (patient: string, what: string, places: readonly string[], remedy: string) =>
	new InputError(
		`patient ${patient} has two ${what}, at ${places.join(" and at ")}; expected one; ${remedy}`,
	);

export const birthRemedy = ["birth dates", "correct the date that is wrong"] as const;

/**
 * SQL that merges the rows of each person: a second birth date is an error, contradictory sexes count as
 * unknown, and the earlier of two dates of death is taken.
 */
export const knownPeopleSql = `
	SELECT patient, min(birth) AS birth, min(death) AS death, min(split) AS split,
		CASE WHEN min(sex) = max(sex) THEN min(sex) END AS sex,
		coalesce(min(sex) <> max(sex), false) AS two_sexes,
		coalesce(min(death) <> max(death), false) AS two_deaths
	FROM person GROUP BY patient`;

/** The same for rows in memory. */
export function knownPeople(rows: Iterable<Omit<PersonRow, "split">>) {
	const byPatient = new Map<string, Omit<PersonRow, "split">[]>();
	for (const row of rows) {
		const ofPatient = byPatient.get(row.patient);
		if (ofPatient) ofPatient.push(row);
		else byPatient.set(row.patient, [row]);
	}
	const people = new Map<string, KnownPerson>();
	const contradictions = { sexes: 0, deaths: 0 };
	for (const [patient, ofPatient] of byPatient) {
		const [first, ...more] = ofPatient.filter(({ birth }) => birth !== null);
		const other = more.find(({ birth }) => birth !== first?.birth);
		if (first && other)
			throw twoOf(patient, birthRemedy[0], [first.place, other.place], birthRemedy[1]);
		const sexes = new Set(ofPatient.flatMap(({ sex }) => sex ?? []));
		const deaths = new Set(ofPatient.flatMap(({ death }) => death ?? []));
		if (sexes.size > 1) contradictions.sexes++;
		if (deaths.size > 1) contradictions.deaths++;
		people.set(patient, {
			birth: first?.birth ?? null,
			sex: sexes.size === 1 ? ([...sexes][0] ?? null) : null,
			death: deaths.size > 0 ? Math.min(...deaths) : null,
		});
	}
	return { people: people as ReadonlyMap<string, KnownPerson>, ...contradictions };
}
