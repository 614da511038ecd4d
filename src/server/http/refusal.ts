export type RefusalStatus =
	| 400
	| 401
	| 403
	| 404
	| 405
	| 408
	| 413
	| 415
	| 421
	| 422
	| 429
	| 431
	| 500
	| 503;

/** What a request is answered with that is not served, in words. Never holds what was recorded of anybody. */
export class Refusal extends Error {
	override readonly name = "Refusal";
	/** Where in the request, as `patient.events.3.date`. */
	readonly field: string | undefined;
	/** In how many seconds to try again. */
	readonly retry: number | undefined;
	/** The methods that are taken instead. */
	readonly allow: string | undefined;
	/** Whether the connection is closed: the rest of the request is not read. */
	readonly closes: boolean;

	constructor(
		readonly status: RefusalStatus,
		message: string,
		{
			field,
			retry,
			allow,
			closes = status === 413 || status === 429,
		}: {
			readonly field?: string;
			readonly retry?: number;
			readonly allow?: string;
			readonly closes?: boolean;
		} = {},
	) {
		super(message);
		this.field = field;
		this.retry = retry;
		this.allow = allow;
		this.closes = closes;
	}
}
