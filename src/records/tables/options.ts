import type { TimeIs } from "./column-names.js";

/** How to read a table of records; whatever is left out is found by the names of the columns. */
export interface TableOptions {
	/** Column of the patient. */
	readonly patient?: string | undefined;
	/** Column of the time. */
	readonly time?: string | undefined;
	/** Column of the code. */
	readonly code?: string | undefined;
	/** Column of the code system, or the name of the system that all codes belong to. */
	readonly system?: string | undefined;
	/** Column that says diagnosis, drug or other. */
	readonly kind?: string | undefined;
	/** Column of a number that goes with the code. */
	readonly value?: string | undefined;
	/** How dates are written, as in strptime: %d/%m/%Y. */
	readonly dateFormat?: string | undefined;
	readonly timeIs?: TimeIs | undefined;
	/** One character, or `tab`; for every delimited file. */
	readonly delimiter?: string | undefined;
	/** File with sex, birth, death and split of the patients. */
	readonly people?: string | undefined;
	/** File with prescriptions. */
	readonly drugsFile?: string | undefined;
	/** File with names of codes: code,name[,category[,kind]]. */
	readonly names?: string | undefined;
	/** File with the columns that the table of records lacks, and the column that both have. */
	readonly join?: string | undefined;
	readonly on?: string | undefined;
	/** Code systems that we do not know and that may pass. */
	readonly allowSystems?: readonly string[] | undefined;
}
