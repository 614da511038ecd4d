import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { countedAddress } from "./addresses.js";
import type { Limits } from "./limits.js";
import { Refusal } from "./refusal.js";

const newConnection = (openedAt: number) => ({
	response: undefined as ServerResponse | undefined,
	/** What it sends, which is held in memory until all is written to the socket. */
	body: undefined as Uint8Array | undefined,
	/** The request that waits for the response to be complete. */
	waiting: undefined as
		| { readonly outgoing: ServerResponse; readonly start: () => void }
		| undefined,
	/** Requests that arrived while another waited. */
	pipelined: 0,
	/** Bytes read from the socket up to the last response. */
	readBytes: 0,
	/** Bytes that the operating system has accepted, and when they last grew or nothing was unsent. */
	takenBytes: 0,
	movedAt: openedAt,
	/** When the response held in memory was created; undefined while a file is sent. */
	madeAt: undefined as number | undefined,
});
type Connection = ReturnType<typeof newConnection>;

type ConnectionLimits = Pick<
	Limits,
	"connections" | "connectionsPerAddress" | "unsentBytes" | "stallMs" | "crowdedStallMs"
>;

/** Of a body, written at once: small, so that the progress of a slow client is visible. */
const pieceBytes = 16 * 1024;
/** Of a connection without a response held in memory. */
const nothingSent = { body: undefined, madeAt: undefined };
/** Few enough to take little memory; a well-behaved client may send as many in one packet. */
const maxPipelined = 8;

/**
 * The open connections. Limits the connections per address, the requests in flight per connection to
 * one, and the bytes of responses that clients have not read.
 */
export function connections(limits: ConnectionLimits) {
	const clock = () => performance.now();
	const open = new Map<Socket, Connection>();
	const perAddress = new Map<string, number>();
	let isClosing = false;

	const unsentOn = (socket: Socket, { body }: Connection) =>
		(body?.length ?? 0) + socket.writableLength;
	const allUnsent = () => {
		let bytes = 0;
		for (const [socket, connection] of open) bytes += unsentOn(socket, connection);
		return bytes;
	};

	/** Records which clients have read something since the last call. */
	function updateProgress(): void {
		const now = clock();
		for (const [socket, connection] of open) {
			const taken = socket.bytesWritten - socket.writableLength;
			if (taken > connection.takenBytes || unsentOn(socket, connection) === 0)
				connection.movedAt = now;
			connection.takenBytes = taken;
		}
	}

	/** Connections with an unread response, those that have not read for longest first. */
	const slowest = () =>
		[...open]
			.filter(
				([socket, connection]) =>
					connection.madeAt !== undefined && unsentOn(socket, connection) > 0,
			)
			.sort(([, a], [, b]) => a.movedAt - b.movedAt);

	/** Makes room for a new response by dropping clients that had time to read, the slowest first. */
	function makeRoom(bytes: number): void {
		let unsent = allUnsent();
		if (unsent + bytes <= limits.unsentBytes) return;
		updateProgress();
		const now = clock();
		for (const [socket, connection] of slowest()) {
			if (now - (connection.madeAt ?? now) < limits.crowdedStallMs) continue;
			unsent -= unsentOn(socket, connection);
			drop(socket, connection);
			if (unsent + bytes <= limits.unsentBytes) return;
		}
		throw new Refusal(503, "too many responses are unread; try again in a moment", { retry: 1 });
	}

	function drop(socket: Socket, connection: Connection): void {
		Object.assign(connection, nothingSent);
		socket.destroy();
	}

	function startResponse(
		connection: Connection,
		outgoing: ServerResponse,
		start: () => void,
	): void {
		const { socket } = outgoing.req;
		connection.response = outgoing;
		const done = () => {
			if (connection.response !== outgoing) return;
			connection.response = undefined;
			connection.readBytes = socket.bytesRead;
			Object.assign(connection, nothingSent);
			const { waiting } = connection;
			connection.waiting = undefined;
			if (waiting && !socket.destroyed) startResponse(connection, waiting.outgoing, waiting.start);
		};
		outgoing.once("finish", done);
		outgoing.once("close", done);
		if (isClosing) makeLast(outgoing, socket);
		start();
	}

	function makeLast(response: ServerResponse, socket: Socket): void {
		if (!response.headersSent) response.setHeader("Connection", "close");
		response.once("finish", () => socket.destroySoon());
	}

	return {
		get count() {
			return open.size;
		},
		/** Bytes of responses that the operating system has not accepted yet. */
		get unsentBytes() {
			return allUnsent();
		},
		/** Registers a new connection, or closes it if its address has too many. */
		open(socket: Socket): void {
			const address = countedAddress(socket.remoteAddress);
			const count = perAddress.get(address) ?? 0;
			if (count >= limits.connectionsPerAddress) {
				socket.destroy();
				return;
			}
			perAddress.set(address, count + 1);
			open.set(socket, newConnection(clock()));
			socket.on("close", () => {
				open.delete(socket);
				const left = (perAddress.get(address) ?? 1) - 1;
				if (left > 0) perAddress.set(address, left);
				else perAddress.delete(address);
			});
		},
		/**
		 * Starts a request once the response before it is complete: a client may send its next request
		 * before the server knows that the response has ended. One request may wait. Further ones are not
		 * answered, and the connection is closed after the one that waits.
		 */
		admit(outgoing: ServerResponse, start: () => void): void {
			const { socket } = outgoing.req;
			const connection = open.get(socket);
			if (!connection) socket.destroy();
			else if (!connection.response) startResponse(connection, outgoing, start);
			else if (!connection.waiting) connection.waiting = { outgoing, start };
			else {
				if (connection.pipelined++ === 0) makeLast(connection.waiting.outgoing, socket);
				if (connection.pipelined > maxPipelined) socket.destroy();
			}
		},
		/** The unfinished response of a connection. */
		responseOn: (socket: Socket): ServerResponse | undefined => open.get(socket)?.response,
		/** Sends JSON piece by piece as the client reads. */
		send(outgoing: ServerResponse, status: number, body: Uint8Array): void {
			const connection = open.get(outgoing.req.socket);
			if (connection?.response !== outgoing) return;
			const { length } = body;
			makeRoom(length);
			connection.body = body;
			connection.madeAt = clock();
			outgoing.writeHead(status, { "Content-Type": "application/json", "Content-Length": length });
			const sendFrom = (from: number) => {
				if (connection.body !== body) return;
				const to = from + pieceBytes;
				const piece = body.subarray(from, to);
				if (to >= length) outgoing.end(piece);
				// The callback runs when the system has accepted the piece, so that the socket buffers one at a time.
				else outgoing.write(piece, (error) => error ?? sendFrom(to));
			};
			sendFrom(0);
		},
		/** Closes the connections of clients that have read nothing for too long. */
		closeStalled(): void {
			updateProgress();
			const now = clock();
			for (const [socket, connection] of slowest())
				if (now - connection.movedAt >= limits.stallMs) drop(socket, connection);
		},
		/** Makes every response from now on the last of its connection. */
		startClosing(): void {
			isClosing = true;
			// A client whose response headers are already sent may send one more request.
			for (const [socket, { response }] of open)
				if (response && !response.headersSent) makeLast(response, socket);
		},
		/** Closes the connections without a request. */
		closeIdle(): void {
			for (const [socket, { response, readBytes }] of open)
				if (!response && socket.bytesRead === readBytes) socket.end();
		},
	};
}

export type Connections = ReturnType<typeof connections>;
