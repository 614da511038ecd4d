import type { TimeAxis } from "../../base/time.js";
import { type RiskTrajectory, riskTrajectories } from "../../infer/index.js";
import { type FoundCode, momentJson } from "../../infer/user-input/index.js";
import type { Events, Predictor } from "../../models/index.js";
import type { RiskResponse } from "../api/schemas.js";
import { listPieces } from "../http/json-pieces.js";

type Trajectories = RiskResponse["codes"][number];

/** Queries the probabilities of codes at times of a history. */
export interface RiskQuery {
	readonly history: Events;
	readonly times: Float64Array;
	readonly codes: readonly (FoundCode & Pick<Trajectories, "drivers">)[];
	/** For each event of the history, its position in the request; negative if it is not in the request. */
	readonly places: readonly number[];
	readonly birth: number | null;
	readonly axis: TimeAxis;
}

/** The times and codes of the response, as pieces of JSON: see `forecastWriter`. */
export const riskWriter =
	(predictor: Predictor) =>
	async (query: RiskQuery): Promise<{ times: Uint8Array[]; codes: Uint8Array[] }> => {
		const { history, times, codes, places, birth, axis } = query;
		const tokens = codes.map((code) => code.tokens);
		const [found = []] = await riskTrajectories(predictor, [history], tokens, [times]);
		const codeResponse = (
			{ code, name, note, drivers }: RiskQuery["codes"][number],
			{ risk, growth, surges }: RiskTrajectory,
		): Trajectories => ({
			...{ code, name },
			...(note !== undefined && { note }),
			risk: [...risk],
			growth: [...growth],
			surges: surges.map(({ from, to, growth, events }) => ({
				...{ from, to, growth },
				events: events.flatMap((event) => places[event] ?? []).filter((place) => place >= 0),
			})),
			...(drivers && { drivers }),
		});
		const timeResponse = (time: number, place: RiskTrajectory["places"][number] = "after") =>
			({ ...momentJson(time, birth, axis), place }) satisfies RiskResponse["times"][number];
		const [first] = found;
		return {
			times: listPieces(
				Array.from(times, (time, i) => JSON.stringify(timeResponse(time, first?.places[i]))),
			),
			codes: listPieces(
				found.map((own, i) =>
					JSON.stringify(codeResponse(codes[i] as RiskQuery["codes"][number], own)),
				),
			),
		};
	};
