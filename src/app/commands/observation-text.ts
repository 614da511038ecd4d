import { thousands } from "../../base/thousands.js";

/** Says how many deaths are recorded, and what it means if there are none. */
export const deathsText = (deaths: number): string =>
	deaths === 0
		? "no deaths are recorded: death is not a competing event in results"
		: `deaths: ${thousands(deaths)}`;
