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

/** An error response to a request. Its message never holds patient data. */
export class Refusal extends Error {
	override readonly name = "Refusal";
	/** The field at fault, such as `patient.events.3.date`. */
	readonly field: string | undefined;
	/** Seconds after which to try again. */
	readonly retry: number | undefined;
	/** The methods that are allowed. */
	readonly allow: string | undefined;
	/** Whether to close the connection without reading the rest of the request. */
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
