import type { Token } from "../../../data/cohort/vocabulary.js";
import { searchCodes } from "../../../predict/user-input/index.js";
import type { CodesQuery } from "./requests.js";
import type { CodesResponse } from "./responses.js";
import { populationOf, type ServedModel } from "./served-model.js";

/** The codes of the model that match a search. */
export function codes(
	{ search, limit }: CodesQuery,
	served: Pick<ServedModel, "vocabulary" | "map" | "simulated">,
): CodesResponse {
	const found = searchCodes(search, served);
	return {
		...populationOf(served),
		found: found.length,
		codes: found.slice(0, limit).map(({ at, ...how }) => {
			const { code, system, name, category, count } = served.vocabulary.tokens[at] as Token;
			return { code, system, name, category, records: count, ...how };
		}),
	};
}
