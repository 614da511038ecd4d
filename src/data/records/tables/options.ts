import type { Sex } from "../rows.js";
import type { TimeIs } from "./column-names.js";

/** How to read a table of records. By default columns are found by their names. */
export interface TableOptions {
	/** Column of the patient. */
	readonly patient?: string | undefined;
	/** Column of the time. */
	readonly time?: string | undefined;
	/**
	 * Column of the code, or several, each by its name or a pattern with `*`. Of several columns, every field with a code
	 * is a record of its own, in the order of the columns.
	 */
	readonly code?: string | readonly string[] | undefined;
	/** Column of the name of the code. */
	readonly name?: string | undefined;
	/** What stands between several codes in one field: `,`. */
	readonly separator?: string | undefined;
	/** Column of the code system, or the name of one system for all codes. */
	readonly system?: string | undefined;
	/** Column of the kind: diagnosis, drug, procedure, laboratory or other. */
	readonly kind?: string | undefined;
	/** Column of a numeric value. */
	readonly value?: string | undefined;
	/** Column of the value's unit. */
	readonly unit?: string | undefined;
	/** The date format as in strptime: %d/%m/%Y. */
	readonly dateFormat?: string | undefined;
	/** The unit of all times: of records, prescriptions, births and deaths. */
	readonly timeIs?: TimeIs | undefined;
	/** The unit of births and deaths, if it is another. */
	readonly peopleTimeIs?: TimeIs | undefined;
	/** One character, or `tab`; for every delimited file. */
	readonly delimiter?: string | undefined;
	/** Files with sex, birth, death and split of the patients. */
	readonly people?: string | readonly string[] | undefined;
	/** Columns of the people. */
	readonly sex?: string | undefined;
	readonly birth?: string | undefined;
	/** Column of the year of birth, if the date is not known: 1 July is taken. */
	readonly birthYear?: string | undefined;
	/** Column of the age in years at time 0, for times that are counted from an origin. */
	readonly age?: string | undefined;
	readonly death?: string | undefined;
	/** The meaning of values of sex, such as 0 and 1. */
	readonly sexValues?: Readonly<Record<string, Sex | null>> | undefined;
	/** Files with prescriptions. */
	readonly drugsFile?: string | readonly string[] | undefined;
	/** The system of the codes in them, if neither a column nor its name says it: rxnorm. */
	readonly drugSystem?: string | undefined;
	/** File with names of codes: columns code and name, and perhaps category, kind and the code system. */
	readonly names?: string | undefined;
	/** File with further columns, and the column to join by. */
	readonly join?: string | undefined;
	readonly on?: string | undefined;
	/** Unknown code systems to accept. */
	readonly allowSystems?: readonly string[] | undefined;
}
