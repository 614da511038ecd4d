import { attribute, placeOf, type RiskTrajectory, riskTrajectories } from "../../infer/index.js";
import type { Predictor } from "../../models/index.js";
import { Refusal } from "../http/refusal.js";
import { askedTimes, readOf } from "./asked-times.js";
import { type AskedPatient, askedPatient } from "./patient.js";
import { mostAttributed, type RiskRequest, type RiskResponse } from "./schemas.js";
import type { FoundCode, Served } from "./served.js";
import { when } from "./when.js";

const mostTimes = 1024;

export async function risk(
	request: RiskRequest,
	served: Served,
	predictor: Predictor,
): Promise<RiskResponse> {
	const asked = askedPatient(request.patient, served);
	const codes = request.codes.map((code) => served.words.findCode(code));
	const times = riskTimes(request, asked, served);
	const history = asked.patient.history;
	const [at] =
		request.attribute === undefined
			? []
			: askedTimes([request.attribute], asked, served, "attribute");
	if (at !== undefined && history.tokens.length > mostAttributed)
		throw new Refusal(
			422,
			`attribute leaves out each event in turn, and the history has ${history.tokens.length}; expected at most ${mostAttributed}: leave attribute out, or give fewer events`,
			{ field: "attribute" },
		);
	const tokens = codes.map((code) => code.tokens);
	const [trajectories = []] = await riskTrajectories(predictor, [history], tokens, [times]);
	const response: RiskResponse["codes"] = [];
	for (const [i, code] of codes.entries())
		response.push({
			...inWords(code, trajectories[i] as RiskTrajectory, asked),
			...(at !== undefined && { drivers: await driversOf(predictor, code, at, asked) }),
		});
	return {
		...readOf(asked, at === undefined ? [...times] : [...times, at], served),
		times: Array.from(times, (time) => ({
			...when(time, asked.patient.birth, asked.axis),
			place: placeOf(history, time),
		})),
		codes: response,
	};
}

function riskTimes({ at, from, to, step }: RiskRequest, asked: AskedPatient, served: Served) {
	if (at !== undefined) {
		const extra = Object.entries({ from, to, step }).find(([, value]) => value !== undefined);
		if (extra)
			throw new Refusal(422, `${extra[0]} is for equal steps, and at names the times; give one`, {
				field: extra[0],
			});
		return Float64Array.from(askedTimes(at, asked, served, "at")).sort();
	}
	const given = {
		...(from !== undefined && { from: String(from) }),
		...(to !== undefined && { to: String(to) }),
		...(step !== undefined && { step }),
	};
	const times = served.words.gridOf(asked.patient, asked.axis, given);
	if (times.length > mostTimes)
		throw new Refusal(
			422,
			`step makes ${times.length} times; expected at most ${mostTimes}: choose a longer one, or a shorter time`,
			{ field: "step" },
		);
	return times;
}

function inWords(
	{ code, name, note }: FoundCode,
	{ risk, growth, surges }: RiskTrajectory,
	{ axis, places }: AskedPatient,
) {
	const day = (time: number) => when(time, null, axis).day;
	return {
		...{ code, name },
		...(note !== undefined && { note }),
		risk: [...risk],
		growth: [...growth],
		surges: surges.map(({ from, to, growth, events }) => ({
			...{ from: day(from), to: day(to), growth },
			events: events.flatMap((event) => places[event] ?? []).filter((place) => place >= 0),
		})),
	};
}

/** Of every event of the request that the model knows. */
async function driversOf(
	predictor: Predictor,
	{ tokens }: FoundCode,
	at: number,
	{ patient, places }: AskedPatient,
) {
	const { effect } = await attribute(predictor, patient.history, { codes: tokens, times: [at] });
	return places
		.map((event, i) => ({ event, effect: effect[i] as number }))
		.filter(({ event }) => event >= 0)
		.sort((a, b) => Math.abs(b.effect) - Math.abs(a.effect));
}
