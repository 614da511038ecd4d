import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

const cookieName = "trajgpt";
export const leastTokenLength = 16;

export const newToken = (): string => randomBytes(24).toString("base64url");

/** Checks whether requests are authorised. */
export function gate(token: string) {
	const key = randomBytes(32);
	// Digests have equal length, so that comparing takes constant time.
	const digest = (text: string) => createHmac("sha256", key).update(text).digest();
	const isSame = (a: string, b: string) => timingSafeEqual(digest(a), digest(b));
	const ticket = digest(`cookie ${token}`).toString("base64url");
	return {
		/** By `Authorization: Bearer`, or by the cookie that signing in sets. */
		isOpenTo(authorization: string | undefined, cookies: string | undefined): boolean {
			const [, given] = /^Bearer (\S+)$/i.exec(authorization ?? "") ?? [];
			if (given !== undefined && isSame(given, token)) return true;
			const own = (cookies ?? "")
				.split(";")
				.map((part) => part.trim().split("="))
				.find(([name]) => name === cookieName);
			return own?.[1] !== undefined && isSame(own[1], ticket);
		},
		/**
		 * The cookie for a correct token; `Secure` if the client uses https. It is lax: links on other pages
		 * open the explorer if the user is signed in.
		 */
		cookieFor: (given: string, isHttps: boolean): string | undefined =>
			isSame(given, token)
				? `${cookieName}=${ticket}; Path=/; HttpOnly; SameSite=Lax${isHttps ? "; Secure" : ""}`
				: undefined,
	};
}

export type Gate = ReturnType<typeof gate>;
