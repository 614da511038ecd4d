import { connect, type Socket } from "node:net";
import { expect } from "vitest";

/** Opens a TCP connection. */
export function opened(port: number): Promise<Socket> {
	const socket = connect(port, "127.0.0.1");
	return new Promise((resolve, reject) => {
		socket.on("connect", () => resolve(socket));
		socket.on("error", reject);
	});
}

/** Everything a socket receives until it is closed. */
export function heard(socket: Socket): Promise<string> {
	let text = "";
	socket.setEncoding("utf8");
	socket.on("data", (chunk) => {
		text += chunk;
	});
	socket.on("error", () => {});
	return new Promise((resolve) => socket.on("close", () => resolve(text)));
}

/** The head of a request that posts JSON. */
export const head = (path: string, ...more: string[]) =>
	`POST /api/v2${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${more.map((line) => `${line}\r\n`).join("")}\r\n`;

/** A whole request that posts JSON. */
export function posted(path: string, body: unknown, ...more: string[]): string {
	const text = JSON.stringify(body);
	return head(path, `Content-Length: ${Buffer.byteLength(text)}`, ...more) + text;
}

/** Resolves when a service that is shutting down no longer listens. */
export async function refusing(port: number): Promise<void> {
	const connecting = () =>
		opened(port).then(
			(socket) => socket.destroy(),
			({ code }) => code,
		);
	await expect.poll(connecting).toBe("ECONNREFUSED");
}
