import { InputError } from "../../../base/errors.js";

export interface DatabaseAddress {
	readonly options: {
		readonly host?: string;
		readonly port?: number;
		readonly user?: string;
		readonly pass?: string;
		readonly database?: string;
		readonly ssl?: "require" | "prefer" | "allow" | "verify-full" | false;
	};
	/** For messages and files: without user and password. */
	readonly shown: string;
}

const expected = "expected postgres://user@host:5432/database";
const sslModes = ["disable", "allow", "prefer", "require", "verify-full"] as const;

/** Parses the address of a PostgreSQL database. It may contain a password, so no message repeats it. */
export function databaseAddress(text: string): DatabaseAddress {
	let url: URL;
	try {
		url = new URL(text);
	} catch {
		throw new InputError(`\`db\` is no address of a PostgreSQL database; ${expected}`);
	}
	if (url.protocol !== "postgres:" && url.protocol !== "postgresql:")
		throw new InputError(`\`db\` begins with "${url.protocol}//"; ${expected}`);
	const parts = [url.hostname, url.username, url.password, url.pathname.slice(1)].map(decoded);
	const [hostname, user, pass, database] = parts;
	for (const name of url.searchParams.keys())
		if (name !== "host" && name !== "sslmode")
			throw new InputError(
				`\`db\` has the parameter ${JSON.stringify(name)}; expected host (the folder of a socket) or sslmode`,
			);
	const host = url.searchParams.get("host") || hostname;
	const port = url.port ? Number(url.port) : undefined;
	const mode = url.searchParams.get("sslmode");
	const sslMode = sslModes.find((known) => known === mode);
	if (mode !== null && !sslMode)
		throw new InputError(
			`\`db\` has sslmode=${JSON.stringify(mode)}; expected one of ${sslModes.join(", ")}`,
		);
	return {
		options: {
			...(host ? { host } : {}),
			...(port ? { port } : {}),
			...(user ? { user } : {}),
			...(pass ? { pass } : {}),
			...(database ? { database } : {}),
			...(sslMode ? { ssl: sslMode === "disable" ? false : sslMode } : {}),
		},
		shown: host?.startsWith("/")
			? `postgres:///${database}?host=${host}`
			: `postgres://${host}${port ? `:${port}` : ""}/${database}`,
	};
}

function decoded(text: string): string {
	try {
		return decodeURIComponent(text);
	} catch {
		throw new InputError(
			`\`db\` has a % that stands for no character; write it as %25, and see that ${expected.replace("expected ", "the rest is ")}`,
		);
	}
}
