import { historyOf, type Patient, type PatientEvent } from "../data/patient.js";
import { type Panels, panelsOf, type Questions, questionsFor, timesAlong } from "./panels.js";
import { type Asked, type Pass, patientSession, type Session } from "./session.js";

export interface Answered {
	readonly request: Request;
	readonly panels: Panels;
	/** Of the history as it was, where that is another. */
	readonly before: Panels | null;
	/** From the change to the answer. */
	readonly milliseconds: number;
	/** What was computed; undefined where all was known. */
	readonly pass: Pass | undefined;
}

export interface Request {
	readonly patient: Patient;
	readonly events: readonly PatientEvent[];
	readonly date: number;
	readonly horizon: number;
	/** The part of the axis that is looked at; null is all of it. */
	readonly zoom: readonly [from: number, to: number] | null;
	readonly since: number;
}

/** How long nobody must have asked before time is spent on getting ready for more. */
const quietMilliseconds = 150;

type Moment = Pick<Request, "patient" | "date" | "horizon" | "zoom">;

/** What is asked about any events of the patient, edited or not. */
function askingAt({ patient, date, horizon, zoom }: Moment) {
	const [first, last] = [patient.events[0]?.time ?? date, patient.events.at(-1)?.time ?? date];
	const span = zoom
		? ([Math.max(first, zoom[0]), Math.min(last, zoom[1])] as const)
		: ([first, last] as const);
	const along = timesAlong(patient.events, span, date);
	return (own: readonly PatientEvent[]): Questions => questionsFor(own, along, date, horizon);
}

/**
 * Asks about one patient. While one question is under way only the latest waits. In between,
 * states are remembered.
 */
export class Asking {
	readonly #base: Session;
	#edited: Session | null = null;
	readonly #tell: (answered: Answered) => void;
	readonly #fail: (message: string) => void;
	readonly #rest: (ready: boolean) => void;
	#next: Request | null = null;
	#busy = false;
	#stopped = false;
	#wake: () => void = () => {};

	constructor(
		model: Asked,
		patient: Patient,
		told: {
			tell(answered: Answered): void;
			fail(message: string): void;
			/** Whether nothing is left to get ready. */
			rest(ready: boolean): void;
		},
	) {
		this.#base = patientSession(model);
		this.#base.use(historyOf(patient, patient.events));
		this.#tell = told.tell;
		this.#fail = told.fail;
		this.#rest = told.rest;
	}

	stop(): void {
		this.#stopped = true;
		this.#wake();
	}

	ask(request: Request): void {
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
					await this.#answer(request);
					await this.#getReady(request);
				} catch (error) {
					// Whoever waits is asked for all the same.
					if (!this.#stopped) this.#fail((error as Error).message);
				}
			}
		} finally {
			this.#busy = false;
			if (!this.#stopped) this.#rest(true);
		}
	}

	async #answer(request: Request): Promise<void> {
		const { patient, events, date, since } = request;
		const questionsOf = askingAt(request);
		const panelsFrom = async (session: Session, own: readonly PatientEvent[]) => {
			const questions = questionsOf(own);
			const history = historyOf(patient, own);
			session.use(history);
			return panelsOf(questions, await session.ask(date, questions.times), history);
		};
		const before = await panelsFrom(this.#base, patient.events);
		let asked = this.#base;
		let panels = before;
		if (events === patient.events) this.#edited = null;
		else if (events.length === 0 && patient.birth === null)
			throw new Error("without any event nothing is known to ask from; add one");
		else {
			this.#edited ??= this.#base.fork();
			asked = this.#edited;
			panels = await panelsFrom(asked, events);
		}
		if (this.#stopped) return;
		// With the answer, not before it: drawn on its own it would hold the answer up.
		this.#rest(false);
		this.#tell({
			request,
			panels,
			before: panels === before ? null : before,
			milliseconds: performance.now() - since,
			pass: asked.lastPass,
		});
	}

	/** Until somebody asks, or there is nothing left to do. */
	async #getReady(request: Request): Promise<void> {
		await new Promise<void>((resolve) => {
			this.#wake = resolve;
			setTimeout(resolve, quietMilliseconds);
			if (this.#next) resolve();
		});
		for (const session of [this.#base, this.#edited])
			while (session && !this.#next && !this.#stopped) if (!(await session.prepare())) break;
		// With nothing known, or one event, the model has programs of their own to compile.
		const { patient, horizon } = request;
		for (const { time: date } of patient.events.slice(0, 2)) {
			if (this.#next || this.#stopped) return;
			const { times } = askingAt({ patient, date, horizon, zoom: null })(patient.events);
			await this.#base.ask(date, times);
		}
	}
}
