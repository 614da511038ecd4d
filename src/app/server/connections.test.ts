import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { expect, test } from "vitest";
import { connections } from "./connections.js";
import { defaultLimits } from "./limits.js";

function socketFrom(remoteAddress: string) {
	let isClosed = false;
	const socket = Object.assign(new EventEmitter(), {
		...{ remoteAddress, writableLength: 0, bytesWritten: 0, bytesRead: 0 },
		destroy() {
			isClosed = true;
			socket.emit("close");
		},
	});
	return {
		socket: socket as unknown as Socket,
		get isClosed() {
			return isClosed;
		},
	};
}

test("limits the connections of one address, and leaves the rest to others", () => {
	const open = connections({ ...defaultLimits, connections: 5, connectionsPerAddress: 2 });
	const come = (address: string) => {
		const own = socketFrom(address);
		open.open(own.socket);
		return own;
	};
	const [first, second, third] = [come("203.0.113.7"), come("203.0.113.7"), come("203.0.113.7")];
	expect([first.isClosed, second.isClosed, third.isClosed]).toEqual([false, false, true]);
	expect(come("203.0.113.8").isClosed).toBe(false);
	expect(open.count).toBe(3);
	first.socket.destroy();
	expect(come("::ffff:203.0.113.7").isClosed).toBe(false);
	expect(come("203.0.113.7").isClosed).toBe(true);
	const local = Array.from({ length: 3 }, () => come("127.0.0.1").isClosed);
	expect(local).toEqual([false, false, true]);
});
