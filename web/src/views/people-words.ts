import { yearDays } from "../../../src/base/time.js";
import { counted } from "../../../src/evaluate/charts/numbers.js";
import type { PersonState } from "../data/contract.js";

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
