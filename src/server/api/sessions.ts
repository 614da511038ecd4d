import { randomBytes } from "node:crypto";
import type { z } from "zod";
import type { PatientEvent, UnderstoodPatient } from "../../api/patient.js";
import type { Predictor, State } from "../../models/index.js";
import type { Engine } from "../engine/engine.js";
import { JsonList } from "../http/json-pieces.js";
import { Refusal } from "../http/refusal.js";
import type { Limits } from "../limits.js";
import { checkAnswerSize } from "./answer-size.js";
import { askedTimes, readOf } from "./asked-times.js";
import type { WrittenForecast } from "./forecast.js";
import { askedPatient, readEvents } from "./patient.js";
import {
	mostForecast,
	type PatientRequest,
	type SessionResponse,
	type sessionForecastRequest,
} from "./schemas.js";
import type { Served } from "./served.js";

interface Session {
	/** As they were when they were last heard of; the history itself is not kept, but for its last event. */
	asked: UnderstoodPatient;
	events: number;
	state: State;
	used: number;
	/** The last thing that was asked of it. */
	turn: Promise<unknown>;
}

export interface Sessions {
	start(patient: PatientRequest, predictor: Predictor): Promise<SessionResponse>;
	add(id: string, events: readonly PatientEvent[], predictor: Predictor): Promise<SessionResponse>;
	forecast(
		id: string,
		request: z.infer<typeof sessionForecastRequest>,
		model: Pick<Engine, "forecast">,
	): Promise<WrittenForecast>;
	end(id: string): void;
	/** Forgets all of them. */
	close(): void;
	readonly size: number;
}

/** What is known of patients, kept between requests: so many of them, and each for so long. */
export function sessions(
	served: Served,
	{ sessions: most, sessionSeconds }: Pick<Limits, "sessions" | "sessionSeconds">,
	clock: () => number = () => performance.now(),
): Sessions {
	const open = new Map<string, Session>();
	/** Begun, but not there yet. */
	let coming = 0;

	const forgetOld = () => {
		for (const [id, { used }] of open) if (clock() - used > sessionSeconds * 1000) open.delete(id);
	};
	// Also when nobody asks: what is known of a patient is not kept for longer than promised.
	const timer = setInterval(forgetOld, Math.max(1000, sessionSeconds * 100));
	timer.unref();
	const inTurn = <T>(id: string, work: (session: Session) => Promise<T>): Promise<T> => {
		forgetOld();
		const session = open.get(id);
		if (!session)
			throw new Refusal(
				404,
				`there is no such session; it was ended, or not used for ${sessionSeconds} seconds: start another`,
			);
		session.used = clock();
		const result = session.turn.then(() => work(session));
		session.turn = result.catch(() => {});
		return result;
	};
	const told = (id: string, { asked, events }: Session): SessionResponse => ({
		...readOf(asked, [], served),
		...{ events, id, expiresInSeconds: sessionSeconds },
	});

	return {
		get size() {
			forgetOld();
			return open.size;
		},
		async start(given, predictor) {
			forgetOld();
			if (open.size + coming >= most)
				throw new Refusal(503, `${most} sessions are open; end one, or try again later`, {
					retry: 60,
				});
			coming++;
			try {
				const asked = askedPatient(given, served);
				const { history } = asked.patient;
				const state =
					history.tokens.length > 0
						? await predictor.observe(predictor.start(1), [history])
						: predictor.start(1);
				const id = randomBytes(16).toString("base64url");
				const session: Session = {
					asked: lastOnly(asked),
					events: history.tokens.length - history.birthEvents,
					...{ state, used: clock(), turn: Promise.resolve() },
				};
				open.set(id, session);
				return { ...told(id, session), ...readOf(asked, [], served) };
			} finally {
				coming--;
			}
		},
		add: (id, given, predictor) =>
			inTurn(id, async (session) => {
				const { asked, state } = session;
				const usual = asked.axis;
				const read = readEvents(given, served, asked);
				const { axis, events, lastDay, unknown, latest, notes } = read;
				const isFirst = asked.patient.lastRecord === null && asked.patient.birth === null;
				if (axis !== usual && !isFirst)
					throw new Refusal(422, `this session counts in ${usual}; give events.0.date likewise`, {
						field: "events.0.date",
					});
				const last = state.times[0] as number;
				const early = events.find(({ day }) => day < last - 1e-9);
				if (early) {
					const field = `events.${early.place}.date`;
					throw new Refusal(
						422,
						`${field} lies before the session's last event; a session goes on in order of time: start another with all events`,
						{ field },
					);
				}
				const tokens = events.map(({ token }) => token);
				const times = events.map(({ day }) => Math.max(day, Number.isNaN(last) ? -1e9 : last));
				if (tokens.length > 0) session.state = await predictor.observe(state, [{ tokens, times }]);
				session.events += tokens.length;
				const { patient } = asked;
				session.asked = lastOnly({
					...asked,
					...{ axis, unknown, latest, notes },
					patient: {
						...patient,
						lastRecord: Math.max(patient.lastRecord ?? -1e9, lastDay),
						history: {
							...patient.history,
							tokens: Int32Array.of(...patient.history.tokens, ...tokens),
							times: Float64Array.of(...patient.history.times, ...times),
						},
					},
				});
				return told(id, session);
			}),
		forecast: (id, { at, top }, model) =>
			inTurn(id, async ({ asked, state, events }) => {
				checkAnswerSize({ name: "top", count: top }, at.length, mostForecast);
				const times = askedTimes(at, asked, "at");
				const last = state.times[0] as number;
				const early = times.findIndex((time) => time < last);
				if (early >= 0)
					throw new Refusal(
						422,
						`at.${early} lies before the session's last event, and a session looks ahead; ask with POST forecast, which takes the whole history`,
						{ field: `at.${early}` },
					);
				const { patient, axis } = asked;
				const question = { of: { state }, times, at, top, birth: patient.birth, axis };
				const answers = await model.forecast(question);
				return { ...readOf(asked, times, served), events, answers: new JsonList(answers) };
			}),
		end(id) {
			if (!open.delete(id)) throw new Refusal(404, "there is no such session; nothing to end");
		},
		close() {
			clearInterval(timer);
			open.clear();
		},
	};
}

/** The last event, to count times and warnings from. */
function lastOnly(asked: UnderstoodPatient): UnderstoodPatient {
	const { history } = asked.patient;
	return {
		...asked,
		places: [],
		patient: {
			...asked.patient,
			history: {
				...history,
				birthEvents: 0,
				tokens: history.tokens.slice(-1),
				times: history.times.slice(-1),
			},
		},
	};
}
