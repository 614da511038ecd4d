import { randomBytes } from "node:crypto";
import { type Period, periodOf } from "../../../data/cohort/history.js";
import type { State } from "../../../model/index.js";
import {
	type ParsedPatient,
	type PatientEvent,
	readEvents,
	readPatient,
} from "../../../predict/library/patient.js";
import type { ModelCalls } from "../engine/engine.js";
import type { Limits } from "../limits.js";
import { Refusal } from "../refusal.js";
import { forecastFrom, historySummary, readerFor, type ServedModel } from "./predictions.js";
import type { PatientRequest, RequestOf } from "./routes.js";

interface Session {
	/** As of the latest request. Of the history, only the last event is kept. */
	parsed: ParsedPatient;
	events: number;
	state: State;
	used: number;
	/** Settles when the latest request of the session is done. */
	turn: Promise<unknown>;
}

/** Keeps the model's state of patients between requests, up to a number of sessions and an idle time. */
export function sessions(
	served: ServedModel,
	{ sessions: maxSessions, sessionSeconds }: Pick<Limits, "sessions" | "sessionSeconds">,
	clock: () => number = () => performance.now(),
) {
	const open = new Map<string, Session>();
	/** Sessions whose first request is still being handled. */
	let starting = 0;

	const forgetOld = () => {
		for (const [id, { used }] of open) if (clock() - used > sessionSeconds * 1000) open.delete(id);
	};
	// A timer, because patient data must expire even if no request arrives.
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
	const responseFor = (id: string, { parsed, events }: Session) => ({
		...historySummary(parsed, [], served),
		events,
		id,
		expiresInSeconds: sessionSeconds,
	});

	return {
		get size() {
			forgetOld();
			return open.size;
		},
		async start(request: PatientRequest, model: Pick<ModelCalls, "start" | "observe">) {
			forgetOld();
			if (open.size + starting >= maxSessions)
				throw new Refusal(503, `${maxSessions} sessions are open; end one, or try again later`, {
					retry: 60,
				});
			starting++;
			try {
				const parsed = readPatient(request, readerFor(served), served.manifest.source.axis);
				const { history } = parsed.patient;
				const state = await model.start(1);
				const id = randomBytes(16).toString("base64url");
				const session: Session = {
					parsed: keepLastEvent(parsed),
					events: history.tokens.length - history.birthEvents,
					state: history.tokens.length > 0 ? await model.observe(state, [history]) : state,
					used: clock(),
					turn: Promise.resolve(),
				};
				open.set(id, session);
				return responseFor(id, { ...session, parsed });
			} finally {
				starting--;
			}
		},
		add: (id: string, added: readonly PatientEvent[], model: Pick<ModelCalls, "observe">) =>
			inTurn(id, async (session) => {
				const { parsed, state } = session;
				const { patient } = parsed;
				const read = readEvents(added, readerFor(served), {
					axis: parsed.axis,
					birth: patient.birth,
					latest: parsed.latest,
				});
				const isFirst = patient.lastRecord === null && patient.birth === null;
				if (read.axis !== parsed.axis && !isFirst)
					throw new Refusal(
						422,
						`this session counts in ${parsed.axis}; give events.0.date likewise`,
						{ field: "events.0.date" },
					);
				const last = state.times[0] as number;
				const early = read.events.find(({ day }) => day < last - 1e-9);
				if (early) {
					const field = `events.${early.place}.date`;
					throw new Refusal(
						422,
						`${field} lies before the session's last event; a session goes on in order of time: start another with all events`,
						{ field },
					);
				}
				const tokens = read.events.map(({ token }) => token);
				const times = read.events.map(({ day }) => Math.max(day, Number.isNaN(last) ? -1e9 : last));
				if (tokens.length > 0) session.state = await model.observe(state, [{ tokens, times }]);
				session.events += tokens.length;
				session.parsed = keepLastEvent({
					...parsed,
					axis: read.axis,
					unknown: read.unknown,
					latest: read.latest,
					notes: read.notes,
					records: parsed.records + added.length,
					drugs: parsed.drugs + read.drugs,
					patient: {
						...patient,
						lastRecord: Math.max(patient.lastRecord ?? -1e9, read.lastDay),
						history: {
							...patient.history,
							observed: withRecords(patient.history.observed, [...times, read.lastDay]),
							tokens: Int32Array.of(...patient.history.tokens, ...tokens),
							times: Float64Array.of(...patient.history.times, ...times),
						},
					},
				});
				return responseFor(id, session);
			}),
		forecast: (
			id: string,
			request: RequestOf<"sessionForecast">,
			model: Pick<ModelCalls, "forecast">,
		) =>
			inTurn(id, async ({ parsed, state, events }) => {
				const lacking = readerFor(served).lacksKnown(parsed.records, events, parsed.drugs);
				if (lacking !== undefined) throw new Refusal(422, `the session has ${lacking}`);
				return { ...(await forecastFrom(state, request, parsed, served, model)), events };
			}),
		end(id: string): void {
			if (!open.delete(id)) throw new Refusal(404, "there is no such session; nothing to end");
		},
		close(): void {
			clearInterval(timer);
			open.clear();
		},
	};
}

/** The observation of a patient of whom only records are known, with further ones. */
function withRecords(observed: readonly Period[], times: readonly number[]): readonly Period[] {
	const days = [...observed.flatMap(({ start, end }) => [start, end]), ...times];
	return periodOf(days.filter(Number.isFinite).sort((a, b) => a - b));
}

/** Drops all events but the last, which relative times and warnings refer to. */
function keepLastEvent(parsed: ParsedPatient): ParsedPatient {
	const { history } = parsed.patient;
	return {
		...parsed,
		places: [],
		patient: {
			...parsed.patient,
			history: {
				...history,
				birthEvents: 0,
				tokens: history.tokens.slice(-1),
				times: history.times.slice(-1),
			},
		},
	};
}
