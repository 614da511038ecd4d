import { InputError, type InputErrorOptions } from "./errors.js";

/** A call of a worker's method, as posted to the worker. */
export interface WorkerCall {
	readonly id: number;
	readonly method: string;
	readonly args: readonly unknown[];
}

/** Errors lose their class between threads: an `InputError` is posted as a refusal, others as a `Failure`. */
export type WorkerReply<Failure> = { readonly id: number } & (
	| { readonly value: unknown }
	| { readonly refusal: { readonly message: string } & InputErrorOptions }
	| { readonly failure: Failure }
);

export type CallByName<Method = string> = (
	method: Method,
	args: readonly unknown[],
) => Promise<unknown>;

interface PendingCall {
	readonly method: string;
	resolve(value: unknown): void;
	reject(error: Error): void;
}

/** The calling side, one per worker. */
export function workerCalls<Failure>(
	post: (call: WorkerCall) => void,
	errorFrom: (failure: Failure) => Error,
) {
	const pending = new Map<number, PendingCall>();
	let nextId = 0;
	let endError: ((method: string) => Error) | undefined;
	return {
		get pending(): number {
			return pending.size;
		},
		call: (method: string, args: readonly unknown[]): Promise<unknown> =>
			new Promise((resolve, reject) => {
				if (endError) return reject(endError(method));
				const id = nextId++;
				post({ id, method, args });
				pending.set(id, { method, resolve, reject });
			}),
		/** Handles a reply posted by the worker. */
		receive(reply: WorkerReply<Failure>): void {
			const call = pending.get(reply.id);
			pending.delete(reply.id);
			if ("value" in reply) call?.resolve(reply.value);
			else
				call?.reject(
					"refusal" in reply
						? new InputError(reply.refusal.message, reply.refusal)
						: errorFrom(reply.failure),
				);
		},
		/** Call it when the worker has ended: rejects pending and later calls. */
		end(error: (method: string) => Error): void {
			endError ??= error;
			for (const { method, reject } of pending.values()) reject(error(method));
			pending.clear();
		},
	};
}

/** Functions that forward their name and arguments. */
export const callsByName = <Calls, Method extends keyof Calls & string>(
	methods: readonly Method[],
	call: CallByName<Method>,
): Pick<Calls, Method> =>
	Object.fromEntries(
		methods.map((method) => [method, (...args: readonly unknown[]) => call(method, args)]),
	) as unknown as Pick<Calls, Method>;

/** The worker's side: executes calls one after the other and posts the replies. */
export function answerCalls<Failure>(
	methods: object,
	post: (reply: WorkerReply<Failure>) => void,
	failureFrom: (error: unknown, method: string) => Failure,
): (call: WorkerCall) => void {
	const answer = async ({ id, method, args }: WorkerCall) => {
		try {
			const call = methods[method as keyof typeof methods] as (
				...args: readonly unknown[]
			) => unknown;
			post({ id, value: await call(...args) });
		} catch (error) {
			post(
				error instanceof InputError
					? { id, refusal: refusalOf(error) }
					: { id, failure: failureFrom(error, method) },
			);
		}
	};
	let last: Promise<void> = Promise.resolve();
	return (call) => {
		last = last.then(() => answer(call));
	};
}

/** Drops error values that are objects, because not all can be posted. */
const refusalOf = ({ message, field, value }: InputError) => ({
	message,
	...(field !== undefined && { field }),
	...(typeof value !== "object" && typeof value !== "function" && { value }),
});
