import type { TimeAxis } from "../../../base/time.js";
import type { Events } from "../../../model/index.js";
import {
	type HazardModel,
	type Incidence,
	type IncidenceTrajectory,
	incidences,
	incidenceTrajectories,
} from "../../../predict/index.js";
import { type FoundCode, momentJson } from "../../../predict/user-input/index.js";
import type { RiskResponse } from "../api/responses.js";
import { listPieces } from "../http/json-pieces.js";

type CodeResponse = RiskResponse["codes"][number];

/** Queries the risks of codes: the probability of a record within a horizon, death competing. */
export interface RiskQuery {
	readonly history: Events;
	/** The index day. */
	readonly at: number;
	/** Horizons after the index day, in days. */
	readonly horizons: readonly number[];
	/** Times of the trajectory. */
	readonly times: Float64Array;
	/** The horizon of the trajectory, in days. */
	readonly horizonDays: number;
	readonly codes: readonly (FoundCode & Pick<CodeResponse, "drivers">)[];
	/** For each event of the history, its position in the request; negative if it is not in the request. */
	readonly places: readonly number[];
	readonly birth: number | null;
	readonly axis: TimeAxis;
}

/** The times and codes of the response, as pieces of JSON: see `forecastWriter`. */
export async function writeRisk(
	model: HazardModel,
	query: RiskQuery,
): Promise<Record<"times" | "codes", Uint8Array[]>> {
	const { history, at, horizons, times, horizonDays, codes, places, birth, axis } = query;
	const tokens = codes.map((code) => code.tokens);
	const [index = []] = await incidences(model, [history], tokens, [[at]], horizons);
	const [along = []] = await incidenceTrajectories(
		...([model, [history], tokens, [times], horizonDays] as const),
	);
	const when = (time: number) => momentJson(time, birth, axis);
	const codeResponse = (
		{ code, name, note, drivers }: RiskQuery["codes"][number],
		{ probabilities, recordedAt: [recorded = Number.NaN] }: Incidence,
		{ risk, growth, recorded: again, surges }: IncidenceTrajectory,
	): CodeResponse => ({
		...{ code, name },
		...(note !== undefined && { note }),
		recorded: Number.isNaN(recorded) ? null : when(recorded),
		probabilities: [...probabilities],
		risk: [...risk],
		growth: [...growth],
		recordedFrom: again.includes(1) ? again.indexOf(1) : null,
		surges: surges.map(({ from, to, growth, events }) => ({
			...{ from, to, growth },
			events: events.flatMap((event) => places[event] ?? []).filter((place) => place >= 0),
		})),
		...(drivers && { drivers }),
	});
	const [first] = along;
	return {
		times: listPieces(
			Array.from(times, (time, i) =>
				JSON.stringify({
					...when(time),
					place: first?.places[i] ?? "after",
				} satisfies RiskResponse["times"][number]),
			),
		),
		codes: listPieces(
			codes.map((code, i) =>
				JSON.stringify(codeResponse(code, index[i] as Incidence, along[i] as IncidenceTrajectory)),
			),
		),
	};
}
