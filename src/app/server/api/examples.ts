import { specialCount, type Token } from "../../../data/cohort/vocabulary.js";
import type { CodeConfig } from "../../../model/heads.js";
import type { routes } from "./routes.js";
import type { ServedModel } from "./served-model.js";

/** A request that the served model answers. */
export interface Example {
	readonly query?: Readonly<Record<string, string | number>>;
	readonly body?: object;
}

/** By operation; those that the model cannot answer are left out. */
export type Examples = Readonly<Partial<Record<keyof typeof routes, Example>>>;

/** Hypertension, diabetes and heart failure: PheCodes that most models know. */
const wellKnown = ["401", "250", "428"];

/** Three codes of the model: well-known ones, then the most frequent. */
function codesIn({ vocabulary }: Pick<ServedModel, "vocabulary">): Token[] {
	const all = vocabulary.tokens.slice(specialCount);
	const known = wellKnown.flatMap((code) => all.find((token) => token.code === code) ?? []);
	const frequent = [...all].sort((a, b) => b.count - a.count);
	return [...new Set([...known, ...frequent])].slice(0, 3);
}

export function examplesFor(
	served: Pick<ServedModel, "vocabulary" | "manifest" | "task" | "config">,
): Examples {
	const [first, second = first, third = second] = codesIn(served);
	if (!first || !second || !third) return { health: {}, model: {}, codes: {} };
	const isDated = served.manifest.source.axis === "dates";
	const event = ({ code }: Token, date: string, day: number) => ({
		code,
		date: isDated ? date : day,
	});
	const patient = {
		sex: "female",
		...(isDated && { birth: "1950-06-01" }),
		events: [event(first, "2010-03-01", 0), event(second, "2011-09-15", 563)],
	};
	const other = { sex: "male", events: [event(second, "2012-05-20", 0)] };
	const { hazards } = served.config as CodeConfig;
	const horizons = ["1y", "5y"];
	return {
		...{ health: {}, model: {}, endSession: {} },
		codes: { query: { search: "heart failure", limit: 5 } },
		forecast: { body: { patient, at: ["+1y"], top: 3 } },
		forecastBatch: { body: { patients: [patient, other], at: ["+1y"], top: 3 } },
		...(hazards && {
			risk: { body: { patient, codes: [third.code], horizons, step: "6m", attribute: "+0d" } },
			riskBatch: { body: { patients: [patient, other], codes: [third.code], horizons } },
		}),
		...(served.task && { score: { body: { patient } } }),
		embed: { body: { patient } },
		startSession: { body: { patient } },
		addEvents: { body: { events: [event(third, "2013-02-01", 1068)] } },
		sessionForecast: { body: { at: ["+6m"], top: 3 } },
	};
}
