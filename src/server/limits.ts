/** What one process takes on. All can be set; these are the usual. */
export interface Limits {
	/** Open at once; more are closed as they come. */
	readonly connections: number;
	/** Open at once from one address; this machine, and a proxy on it, may open all of them. */
	readonly connectionsPerAddress: number;
	/** Of one request's body. */
	readonly bodyBytes: number;
	/** Of all bodies, from their first byte until the request is answered. */
	readonly bodiesBytes: number;
	/** Of the form that POST /sign-in takes, which anybody may send: of one and of all. */
	readonly signInBytes: number;
	readonly signInsBytes: number;
	/** Of JSON: lists in objects in lists. */
	readonly depth: number;
	/** Of JSON: values in one request. */
	readonly values: number;
	/** Of one answer. */
	readonly answerBytes: number;
	/** Of all answers that clients have not read yet. */
	readonly unsentBytes: number;
	/** Until a client that reads nothing of its answer is closed, in ms. */
	readonly stallMs: number;
	/** The same where the room for unsent answers is needed for others, in ms. */
	readonly crowdedStallMs: number;
	/** Until the first wrong token of an address is answered, in ms; each further one takes twice as long. */
	readonly wrongTokenMs: number;
	/** Until a wrong token is answered, at most, in ms. */
	readonly wrongTokenMostMs: number;
	/** Addresses whose wrong tokens are remembered. */
	readonly wrongTokenAddresses: number;
	/** Answers to wrong tokens that wait at once; more are given without delay and their connections closed. */
	readonly wrongTokensWaiting: number;
	/** Calls to the model that wait. */
	readonly waiting: number;
	readonly sessions: number;
	/** Since it was last used, in seconds. */
	readonly sessionSeconds: number;
	/** Until a request's head, and until all of it, has arrived, in ms. */
	readonly headMs: number;
	readonly requestMs: number;
	/** How often the two are looked at, in ms. */
	readonly checkMs: number;
	/** Until a request is answered, in ms. */
	readonly answerMs: number;
	/** Of a connection on which nothing moves, in ms. */
	readonly silenceMs: number;
	/** For what is under way when the service is told to end, in ms. */
	readonly closeMs: number;
	/** Then, for a connection without a request to send another, in ms. */
	readonly closeIdleMs: number;
}

export const defaultLimits: Limits = {
	connections: 2048,
	connectionsPerAddress: 1024,
	bodyBytes: 1024 ** 2,
	bodiesBytes: 64 * 1024 ** 2,
	signInBytes: 4 * 1024,
	// Room for one form per connection: slow senders cannot take it from others.
	signInsBytes: 2048 * 4 * 1024,
	depth: 16,
	// 5,000 events of three fields are 15,000.
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
