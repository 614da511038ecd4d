import type { ContentfulStatusCode } from "hono/utils/http-status";

interface RefusalDetails {
	/** The field at fault, such as `patient.events.3.date`. */
	readonly field?: string;
	/** In a batch, the position of the patient at fault. */
	readonly patient?: number;
	/** Seconds after which to try again. */
	readonly retry?: number;
	/** The methods that are allowed. */
	readonly allow?: string;
	/** Whether to close the connection without reading the rest of the request. */
	readonly closes?: boolean;
}

/** An error response to a request. Its message never holds patient data. */
export class Refusal extends Error {
	override readonly name = "Refusal";

	constructor(
		readonly status: ContentfulStatusCode,
		message: string,
		readonly details: RefusalDetails = {},
	) {
		super(message);
	}
}
