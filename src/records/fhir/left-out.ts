import { Tally } from "./tally.js";

/** What was left out on the way, and why. */
export class LeftOut {
	/** Entered in error, refuted, cancelled, not taken. */
	readonly void = new Tally();
	readonly uncoded = new Tally();
	readonly aboutOthers = new Tally();
	readonly otherTypes = new Tally();
	readonly unknownSystems = new Tally();
	severalCodings = 0;
	deathsWithoutDate = 0;
}
