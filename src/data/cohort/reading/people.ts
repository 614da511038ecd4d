import { InputError } from "../../../base/errors.js";
import { notesFor } from "../../records/bad-rows.js";
import type { PersonRow, Sex } from "../../records/rows.js";

/** Known facts about a person; times in days. */
export interface KnownPerson {
	readonly birth: number | null;
	readonly sex: Sex | null;
	readonly death: number | null;
}

export const nothingKnown: KnownPerson = { birth: null, sex: null, death: null };

/** How many patients have contradictory records, by kind. */
export interface Contradictions {
	/** A record before the birth. */
	readonly births: number;
	readonly sexes: number;
	readonly deaths: number;
	/** A record after the day of death. */
	readonly late: number;
}

/** Notes on how contradictory records were resolved. */
export const peopleNotes = ({ births, sexes, deaths, late }: Contradictions): string[] =>
	notesFor([
		[births, `${births} patients have a record before their birth date: birth taken as unknown`],
		[sexes, `${sexes} patients are given two sexes: sex taken as unknown`],
		[deaths, `${deaths} patients are given two dates of death: the earlier one taken`],
		[late, `${late} patients have a record after their death: kept`],
	]);

/** The error for a patient with two different values in the source. */
export const twoOf = (
	patient: string,
	what: string,
	places: readonly string[],
	remedy: string,
): InputError =>
	new InputError(
		`patient ${patient} has two ${what}, at ${places.join(" and at ")}; expected one; ${remedy}`,
	);

export const birthRemedy = ["birth dates", "correct the date that is wrong"] as const;

interface Person extends KnownPerson {
	/** Where the birth was read. */
	readonly place: string;
	readonly twoSexes: boolean;
	readonly twoDeaths: boolean;
}

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
	const people = new Map<string, Person>();
	for (const { patient, birth, sex, death, place } of rows) {
		const known = people.get(patient);
		if (!known) {
			people.set(patient, { birth, sex, death, place, twoSexes: false, twoDeaths: false });
			continue;
		}
		if (known.birth !== null && birth !== null && known.birth !== birth)
			throw twoOf(patient, birthRemedy[0], [known.place, place], birthRemedy[1]);
		const differ = <T>(a: T | null, b: T | null) => a !== null && b !== null && a !== b;
		const twoSexes = known.twoSexes || differ(known.sex, sex);
		people.set(patient, {
			birth: known.birth ?? birth,
			place: known.birth === null ? place : known.place,
			sex: twoSexes ? null : (known.sex ?? sex),
			twoSexes,
			death:
				known.death === null || death === null
					? (known.death ?? death)
					: Math.min(known.death, death),
			twoDeaths: known.twoDeaths || differ(known.death, death),
		});
	}
	const all = [...people.values()];
	return {
		people: people as ReadonlyMap<string, KnownPerson>,
		sexes: all.filter(({ twoSexes }) => twoSexes).length,
		deaths: all.filter(({ twoDeaths }) => twoDeaths).length,
	};
}
