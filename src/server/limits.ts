/** Limits of one service process. */
export interface Limits {
	/** Open connections; further ones are closed at once. */
	readonly connections: number;
	/** Open connections per address, which a proxy on this machine may need all of. */
	readonly connectionsPerAddress: number;
	/** Size of one request body. */
	readonly bodyBytes: number;
	/** Size of all bodies together, from their first byte until the response. */
	readonly bodiesBytes: number;
	/** Size of one form of POST /sign-in, and of all together; no token is needed to send one. */
	readonly signInBytes: number;
	readonly signInsBytes: number;
	/** Nesting depth of JSON. */
	readonly depth: number;
	/** JSON values per request. */
	readonly values: number;
	/** Size of one response. */
	readonly answerBytes: number;
	/** Size of all responses that clients have not read yet. */
	readonly unsentBytes: number;
	/** A client that reads nothing of its response for this long is closed. */
	readonly stallMs: number;
	/** The same, if other clients need the space for unsent responses. */
	readonly crowdedStallMs: number;
	/** Delay of the response to the first wrong token of an address; it doubles with each further one. */
	readonly wrongTokenMs: number;
	/** Longest delay of the response to a wrong token. */
	readonly wrongTokenMostMs: number;
	/** Addresses whose wrong tokens are counted. */
	readonly wrongTokenAddresses: number;
	/** Delayed responses at a time; further ones are sent at once and their connections closed. */
	readonly wrongTokensWaiting: number;
	/** Model calls in the queue. */
	readonly waiting: number;
	readonly sessions: number;
	/** Sessions expire this long after their last use. */
	readonly sessionSeconds: number;
	/** Time for a request's headers to arrive, and for the whole request. */
	readonly headMs: number;
	readonly requestMs: number;
	/** Interval of checking both. */
	readonly checkMs: number;
	/** Time to compute a response. */
	readonly answerMs: number;
	/** A connection without traffic is closed after this long. */
	readonly silenceMs: number;
	/** Time for running requests to finish when the service shuts down. */
	readonly closeMs: number;
	/** Then, time for idle connections to send one more request. */
	readonly closeIdleMs: number;
}

export const defaultLimits: Limits = {
	connections: 2048,
	connectionsPerAddress: 1024,
	bodyBytes: 1024 ** 2,
	bodiesBytes: 64 * 1024 ** 2,
	signInBytes: 4 * 1024,
	// One form per connection: slow senders cannot block others.
	signInsBytes: 2048 * 4 * 1024,
	depth: 16,
	// 5,000 events of three fields are 15,000 values.
	values: 16 * 1024,
	answerBytes: 2 * 1024 ** 2,
	unsentBytes: 64 * 1024 ** 2,
	stallMs: 20_000,
	crowdedStallMs: 1000,
	wrongTokenMs: 100,
	wrongTokenMostMs: 10_000,
	wrongTokenAddresses: 4096,
	wrongTokensWaiting: 64,
	waiting: 512,
	sessions: 256,
	sessionSeconds: 15 * 60,
	headMs: 10_000,
	requestMs: 20_000,
	checkMs: 1000,
	answerMs: 30_000,
	silenceMs: 60_000,
	closeMs: 10_000,
	closeIdleMs: 500,
};
