import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

const cookieName = "trajgpt";
export const leastTokenLength = 16;

export const newToken = (): string => randomBytes(24).toString("base64url");

/** Who may come in. */
export interface Gate {
	/** By `Authorization: Bearer`, or by the cookie that was given for the token. */
	isOpenTo(authorization: string | undefined, cookies: string | undefined): boolean;
	/** What to set for whoever knows the token; never sent in the clear if they came by https. */
	cookieFor(token: string, isHttps: boolean): string | undefined;
}

export function gate(token: string): Gate {
	const key = randomBytes(32);
	// Digests are of one length whatever was sent, and take as long to compare.
	const digest = (text: string) => createHmac("sha256", key).update(text).digest();
	const isSame = (a: string, b: string) => timingSafeEqual(digest(a), digest(b));
	const ticket = digest(`cookie ${token}`).toString("base64url");
	return {
		isOpenTo(authorization, cookies) {
			const [, given] = /^Bearer (\S+)$/i.exec(authorization ?? "") ?? [];
			if (given !== undefined && isSame(given, token)) return true;
			const own = (cookies ?? "")
				.split(";")
				.map((part) => part.trim().split("="))
				.find(([name]) => name === cookieName);
			return own?.[1] !== undefined && isSame(own[1], ticket);
		},
		// Lax: a link on another page opens the explorer for whoever is signed in.
		cookieFor: (given, isHttps) =>
			isSame(given, token)
				? `${cookieName}=${ticket}; Path=/; HttpOnly; SameSite=Lax${isHttps ? "; Secure" : ""}`
				: undefined,
	};
}
