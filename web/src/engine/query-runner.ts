import type { HistoryStart } from "../../../src/predict/open-hazards.js";
import { type History, historyOf, type Patient, type PatientEvent } from "../data/patient.js";
import { endOfDay } from "./index-day.js";
import { curveTimes, type Panels, panelsOf, type Queries, queriesFor } from "./panels.js";
import { type ModelCalls, type Pass, patientSession, type Session } from "./session.js";

export interface QueryResult {
	readonly request: Request;
	readonly panels: Panels;
	/** Of the unedited history; null if nothing is edited. */
	readonly before: Panels | null;
	/** From the user's change to the result. */
	readonly milliseconds: number;
	/** What was computed; undefined if everything was cached. */
	readonly pass: Pass | undefined;
}

export interface RunnerEvents {
	onResult(result: QueryResult): void;
	onError(message: string): void;
	/** `ready` is true once all states are cached. */
	onIdle(ready: boolean): void;
}

export interface Request {
	readonly patient: Patient;
	readonly events: readonly PatientEvent[];
	readonly date: number;
	readonly horizon: number;
	/** The visible part of the time axis; null for all of it. */
	readonly zoom: readonly [from: number, to: number] | null;
	readonly since: number;
}

/** States are prefetched after this long without a request. */
const idleMilliseconds = 150;

type Moment = Pick<Request, "patient" | "date" | "horizon" | "zoom">;

/** The queries for one date and view, as a function of the events, edited or not. */
function queriesAt({ patient, date, horizon, zoom }: Moment) {
	const [first, last] = [patient.events[0]?.time ?? date, patient.events.at(-1)?.time ?? date];
	const span = zoom
		? ([Math.max(first, zoom[0]), Math.min(last, zoom[1])] as const)
		: ([first, last] as const);
	const along = curveTimes(patient.events, span, endOfDay(date));
	return (own: readonly PatientEvent[]): Queries => queriesFor(own, along, date, horizon);
}

/**
 * Runs the queries of one patient, one request at a time. While one runs, only the latest request
 * waits. When idle, it caches states of the history.
 */
export class QueryRunner {
	readonly #base: Session;
	#edited: Session | null = null;
	readonly #on: RunnerEvents;
	#next: Request | null = null;
	#busy = false;
	#stopped = false;
	#wake: () => void = () => {};

	constructor(model: ModelCalls, patient: Patient, on: RunnerEvents) {
		this.#base = patientSession(model);
		this.#base.use(historyOf(patient, patient.events));
		this.#on = on;
	}

	stop(): void {
		this.#stopped = true;
		this.#wake();
	}

	/** A cached state from which a history can be read up to the end of a date; null if there is none. */
	startFor(history: History, date: number): HistoryStart | null {
		const found = [this.#base, this.#edited].map((own) => own?.startFor(history, endOfDay(date)));
		return found.reduce<HistoryStart | null>(
			(best, own) => (own && own.events > (best?.events ?? 0) ? own : best),
			null,
		);
	}

	submit(request: Request): void {
		this.#next = request;
		this.#wake();
		if (!this.#busy) void this.#work();
	}

	async #work(): Promise<void> {
		this.#busy = true;
		try {
			while (this.#next && !this.#stopped) {
				const request = this.#next;
				this.#next = null;
				try {
					await this.#run(request);
					await this.#prefetchStates(request);
				} catch (error) {
					if (!this.#stopped) this.#on.onError((error as Error).message);
				}
			}
		} finally {
			this.#busy = false;
			if (!this.#stopped) this.#on.onIdle(true);
		}
	}

	async #run(request: Request): Promise<void> {
		const { patient, events, since } = request;
		const queriesOf = queriesAt(request);
		const panelsFrom = async (session: Session, own: readonly PatientEvent[]) => {
			const queries = queriesOf(own);
			const history = historyOf(patient, own);
			session.use(history);
			return panelsOf(queries, await session.predict(queries.until, queries.times), history);
		};
		const before = await panelsFrom(this.#base, patient.events);
		let used = this.#base;
		let panels = before;
		if (events === patient.events) this.#edited = null;
		else if (events.length === 0 && patient.birth === null)
			throw new Error("the history is empty and the birth is unknown; add an event");
		else {
			this.#edited ??= this.#base.fork();
			used = this.#edited;
			panels = await panelsFrom(used, events);
		}
		if (this.#stopped) return;
		// Together with the result: a render of its own would delay it.
		this.#on.onIdle(false);
		this.#on.onResult({
			request,
			panels,
			before: panels === before ? null : before,
			milliseconds: performance.now() - since,
			pass: used.lastPass,
		});
	}

	/** Works until the next request, or until everything is cached. */
	async #prefetchStates(request: Request): Promise<void> {
		await new Promise<void>((resolve) => {
			this.#wake = resolve;
			setTimeout(resolve, idleMilliseconds);
			if (this.#next) resolve();
		});
		for (const session of [this.#base, this.#edited])
			while (session && !this.#next && !this.#stopped) if (!(await session.cacheNextState())) break;
		// The model compiles separate programs for histories of zero and one event: do it ahead of time.
		const { patient, horizon } = request;
		for (const { time } of patient.events.slice(0, 2)) {
			if (this.#next || this.#stopped) return;
			const moment = { patient, date: time - 1, horizon, zoom: null };
			const { until, times } = queriesAt(moment)(patient.events);
			await this.#base.predict(until, times);
		}
	}
}
