import type { TimeAxis } from "../../base/time.js";
import { type FoundCode, momentJson } from "../../infer/asking/index.js";
import { type RiskTrajectory, riskTrajectories } from "../../infer/index.js";
import type { Events, Predictor } from "../../models/index.js";
import type { RiskResponse } from "../api/schemas.js";
import { listPieces } from "../http/json-pieces.js";

type Trajectories = RiskResponse["codes"][number];

/** The risks of codes along the times of a history. */
export interface RiskQuestion {
	readonly history: Events;
	readonly times: Float64Array;
	readonly codes: readonly (FoundCode & Pick<Trajectories, "drivers">)[];
	/** Of each event of the history, its place in the request; below 0 of what was not in it. */
	readonly places: readonly number[];
	readonly birth: number | null;
	readonly axis: TimeAxis;
}

/** Answers with the JSON that is sent, in pieces, as forecasts do: of the times, and of the codes. */
export const riskWriter =
	(predictor: Predictor) =>
	async (question: RiskQuestion): Promise<{ times: Uint8Array[]; codes: Uint8Array[] }> => {
		const { history, times, codes, places, birth, axis } = question;
		const tokens = codes.map((code) => code.tokens);
		const [found = []] = await riskTrajectories(predictor, [history], tokens, [times]);
		const inWords = (
			{ code, name, note, drivers }: RiskQuestion["codes"][number],
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
		const inTime = (time: number, place: RiskTrajectory["places"][number] = "after") =>
			({ ...momentJson(time, birth, axis), place }) satisfies RiskResponse["times"][number];
		const [first] = found;
		return {
			times: listPieces(
				Array.from(times, (time, i) => JSON.stringify(inTime(time, first?.places[i]))),
			),
			codes: listPieces(
				found.map((own, i) =>
					JSON.stringify(inWords(codes[i] as RiskQuestion["codes"][number], own)),
				),
			),
		};
	};
