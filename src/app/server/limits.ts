/** The default limits of one service process. */
export const defaultLimits = {
	/** Open connections; further ones are closed at once. */
	connections: 2048,
	/** Open connections per address, which a proxy on this machine may need all of. */
	connectionsPerAddress: 1024,
	bodyBytes: 1024 ** 2,
	/** Size of all bodies together, from their first byte until the response. */
	bodiesBytes: 64 * 1024 ** 2,
	/** Size of one form of POST /sign-in; no token is needed to send one, and each connection can send one at a time. */
	signInBytes: 4 * 1024,
	depth: 16,
	/** JSON values per request: 5,000 events of three fields are 15,000 values. */
	values: 16 * 1024,
	answerBytes: 2 * 1024 ** 2,
	/** Size of all responses that clients have not read yet. */
	unsentBytes: 64 * 1024 ** 2,
	/** A client that reads nothing of its response for this long is closed. */
	stallMs: 20_000,
	/** The same, if other clients need the space for unsent responses. */
	crowdedStallMs: 1000,
	/** Delay of the response to the first wrong token of an address; it doubles with each further one. */
	wrongTokenMs: 100,
	/** Longest delay of the response to a wrong token. */
	wrongTokenMostMs: 10_000,
	/** Addresses whose wrong tokens are counted. */
	wrongTokenAddresses: 4096,
	/** Delayed responses at a time; further ones are sent at once and their connections closed. */
	wrongTokensWaiting: 64,
	waiting: 512,
	sessions: 256,
	/** Sessions expire this long after their last use. */
	sessionSeconds: 15 * 60,
	/** Time for a request's headers to arrive. */
	headMs: 10_000,
	/** Time for a whole request to arrive. */
	requestMs: 20_000,
	/** Interval of checking both, and of looking for stalled clients. */
	checkMs: 1000,
	answerMs: 30_000,
	/** A connection without traffic is closed after this long. */
	silenceMs: 60_000,
	/** Time for running requests to finish when the service shuts down. */
	closeMs: 10_000,
	/** Then, time for idle connections to send one more request. */
	closeIdleMs: 500,
};

export type Limits = Readonly<typeof defaultLimits>;
