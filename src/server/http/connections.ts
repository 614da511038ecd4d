import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Limits } from "../limits.js";
import { countedAddress } from "./addresses.js";
import { Refusal } from "./refusal.js";

/**
 * The open connections: so many from one address, one request at a time on each, and so many bytes
 * of answers that their clients have not read.
 */
export interface Connections {
	/** Counts a new connection, or closes it where its address has too many. */
	open(socket: Socket): void;
	/**
	 * Starts to answer a request once the answer before it is complete: clients may send the next
	 * request before the end of an answer is known here. One request may wait for that. If more
	 * follow, they are not answered, and the connection is closed after the one that waits.
	 */
	admit(outgoing: ServerResponse, start: () => void): void;
	/** The answer that is under way on a connection. */
	answerOn(socket: Socket): ServerResponse | undefined;
	/** Sends JSON, one piece after the other as the client reads. */
	send(outgoing: ServerResponse, status: number, pieces: Uint8Array[]): void;
	/** Closes the connections of clients that have read nothing for too long. */
	closeStalled(): void;
	/** From now on every answer is the last on its connection. */
	startClosing(): void;
	/** Closes the connections on which no request has begun. */
	closeIdle(): void;
	readonly count: number;
	/** Bytes of answers that the system has not taken yet. */
	readonly unsentBytes: number;
}

interface Connection {
	readonly address: string;
	/** The answer that is under way. */
	answer: ServerResponse | undefined;
	/** What of it the socket has not been given, and its bytes. */
	pieces: Uint8Array[];
	pieceBytes: number;
	/** The request that waits for the answer to be complete. */
	waiting: { readonly outgoing: ServerResponse; readonly start: () => void } | undefined;
	/** Requests that came while another waited. */
	pipelined: number;
	/** Bytes that had been read when the last request was answered. */
	readBytes: number;
	/** Bytes that the system has taken, and when they last grew or nothing was left to take. */
	takenBytes: number;
	movedAt: number;
	/** When the answer was made that memory is held for; none while a file is sent. */
	madeAt: number | undefined;
}

type ConnectionLimits = Pick<
	Limits,
	"connections" | "connectionsPerAddress" | "unsentBytes" | "stallMs" | "crowdedStallMs"
>;

/** So few that their unanswered requests take little memory; one packet of an honest client may hold as many. */
const mostPipelined = 8;

export function connections(
	limits: ConnectionLimits,
	clock: () => number = () => performance.now(),
): Connections {
	const open = new Map<Socket, Connection>();
	const perAddress = new Map<string, number>();
	let isClosing = false;

	const unsentOn = (socket: Socket, { pieceBytes }: Connection) =>
		pieceBytes + socket.writableLength;
	const allUnsent = () => {
		let bytes = 0;
		for (const [socket, own] of open) bytes += unsentOn(socket, own);
		return bytes;
	};

	/** Notes which clients have read something since the last time. */
	function updateProgress(): void {
		const now = clock();
		for (const [socket, own] of open) {
			const taken = socket.bytesWritten - socket.writableLength;
			if (taken > own.takenBytes || unsentOn(socket, own) === 0) own.movedAt = now;
			own.takenBytes = taken;
		}
	}

	/** Those with an answer that is not read to its end; who has not read for longest first. */
	const slowest = () =>
		[...open]
			.filter(([socket, own]) => own.madeAt !== undefined && unsentOn(socket, own) > 0)
			.sort(([, a], [, b]) => a.movedAt - b.movedAt);

	/** Clients that have had time to read make room for a new answer, the slowest first. */
	function makeRoom(bytes: number): void {
		let unsent = allUnsent();
		if (unsent + bytes <= limits.unsentBytes) return;
		updateProgress();
		const now = clock();
		for (const [socket, own] of slowest()) {
			if (now - (own.madeAt ?? now) < limits.crowdedStallMs) continue;
			unsent -= unsentOn(socket, own);
			drop(socket, own);
			if (unsent + bytes <= limits.unsentBytes) return;
		}
		throw new Refusal(503, "too many answers are unread; try again in a moment", { retry: 1 });
	}

	function drop(socket: Socket, own: Connection): void {
		forgetPieces(own);
		socket.destroy();
	}
	function forgetPieces(own: Connection): void {
		own.pieces = [];
		own.pieceBytes = 0;
		own.madeAt = undefined;
	}

	function answerNow(own: Connection, outgoing: ServerResponse, start: () => void): void {
		const { socket } = outgoing.req;
		own.answer = outgoing;
		const done = () => {
			if (own.answer !== outgoing) return;
			own.answer = undefined;
			own.readBytes = socket.bytesRead;
			forgetPieces(own);
			const { waiting } = own;
			own.waiting = undefined;
			if (waiting && !socket.destroyed) answerNow(own, waiting.outgoing, waiting.start);
		};
		outgoing.once("finish", done);
		outgoing.once("close", done);
		if (isClosing) makeLast(outgoing, socket);
		start();
	}

	function makeLast(answer: ServerResponse, socket: Socket): void {
		if (!answer.headersSent) answer.setHeader("Connection", "close");
		answer.once("finish", () => socket.destroySoon());
	}

	return {
		get count() {
			return open.size;
		},
		get unsentBytes() {
			return allUnsent();
		},
		open(socket) {
			const address = countedAddress(socket.remoteAddress);
			const count = perAddress.get(address) ?? 0;
			if (count >= limits.connectionsPerAddress) {
				socket.destroy();
				return;
			}
			perAddress.set(address, count + 1);
			open.set(socket, {
				...{ address, answer: undefined, pieces: [], pieceBytes: 0 },
				...{
					waiting: undefined,
					pipelined: 0,
					readBytes: 0,
					takenBytes: 0,
					movedAt: clock(),
					madeAt: undefined,
				},
			});
			socket.on("close", () => {
				open.delete(socket);
				const left = (perAddress.get(address) ?? 1) - 1;
				if (left > 0) perAddress.set(address, left);
				else perAddress.delete(address);
			});
		},
		admit(outgoing, start) {
			const { socket } = outgoing.req;
			const own = open.get(socket);
			if (!own) return void socket.destroy();
			if (!own.answer) return answerNow(own, outgoing, start);
			if (!own.waiting) {
				own.waiting = { outgoing, start };
				return;
			}
			if (own.pipelined++ === 0) makeLast(own.waiting.outgoing, socket);
			if (own.pipelined > mostPipelined) socket.destroy();
		},
		answerOn: (socket) => open.get(socket)?.answer,
		send(outgoing, status, pieces) {
			const own = open.get(outgoing.req.socket);
			if (own?.answer !== outgoing) return;
			const bytes = pieces.reduce((sum, { length }) => sum + length, 0);
			makeRoom(bytes);
			own.pieces = pieces;
			own.pieceBytes = bytes;
			own.madeAt = clock();
			outgoing.writeHead(status, { "Content-Type": "application/json", "Content-Length": bytes });
			const sendNext = () => {
				const piece = own.answer === outgoing ? own.pieces.shift() : undefined;
				if (!piece) return;
				own.pieceBytes -= piece.length;
				if (own.pieces.length === 0) outgoing.end(piece);
				// Called when the system has taken the piece, so that one at a time lies in the socket.
				else outgoing.write(piece, (error) => error ?? sendNext());
			};
			sendNext();
		},
		closeStalled() {
			updateProgress();
			const now = clock();
			for (const [socket, own] of slowest())
				if (now - own.movedAt >= limits.stallMs) drop(socket, own);
		},
		startClosing() {
			isClosing = true;
			// Whoever was told that the connection stays may send one more request on it.
			for (const [socket, { answer }] of open)
				if (answer && !answer.headersSent) makeLast(answer, socket);
		},
		closeIdle() {
			for (const [socket, { answer, readBytes }] of open)
				if (!answer && socket.bytesRead === readBytes) socket.end();
		},
	};
}
