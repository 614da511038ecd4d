import { InputError } from "../../../base/errors.js";

const lost = "the connection to the database was lost while reading; try again";
const unreachable = "no PostgreSQL server answers there; check the host, the port and that it runs";
const refused =
	"the user or password is refused; check the user in `db` and the password in PGPASSWORD";

/** By the codes of Node.js, of the library and of PostgreSQL (SQLSTATE). */
const meanings: Readonly<Record<string, string>> = {
	ECONNREFUSED: unreachable,
	ENOENT: unreachable,
	ENOTFOUND: "no such host; check its name",
	EAI_AGAIN: "no such host; check its name and the network",
	EHOSTUNREACH: unreachable,
	ENETUNREACH: unreachable,
	ETIMEDOUT: unreachable,
	CONNECT_TIMEOUT: unreachable,
	EACCES: "the socket may not be opened; check who may use it",
	ECONNRESET: lost,
	EPIPE: lost,
	CONNECTION_CLOSED: lost,
	CONNECTION_ENDED: lost,
	CONNECTION_DESTROYED: lost,
	"57P01": lost,
	"57P02": lost,
	"57P03": "the database is starting up or shutting down; try again",
	"28P01": refused,
	"28000": `${refused}; or the server does not let this machine in (pg_hba.conf)`,
	"3D000": "no such database; check the name at the end of `db`",
	"42501":
		"this user may not read the tables; ask for GRANT USAGE on the schema and GRANT SELECT on its tables",
	"53300": "the server has too many connections; try again later",
	"57014":
		"the server cancelled the query, by a time limit or by hand; try again, or raise statement_timeout",
	"40001":
		"the server cancelled the reading to catch up with its primary; try again, or read from the primary",
	"42P01": "a table went away while reading; try again",
	SASL_SIGNATURE_MISMATCH: refused,
	AUTH_TYPE_NOT_IMPLEMENTED:
		"the server asks for a way to log in that is not supported; expected a password (SCRAM or MD5)",
};

const tls = /^(ERR_(SSL|TLS)|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/;

/** Explains an error of a database; returns any other error unchanged. */
export function explainDatabase(shown: string, error: unknown): unknown {
	if (error instanceof InputError || !(error instanceof Error)) return error;
	const code = String((error as { code?: unknown }).code ?? "");
	const say = (text: string) => new InputError(`${shown}: ${text}`, { cause: error });
	const meaning = meanings[code];
	if (meaning) return say(meaning);
	if (tls.test(code))
		return say(`no safe connection (${code}); check the certificate, or see sslmode in the guide`);
	if (error.name === "PostgresError")
		return say(`the server reports error ${code}; look it up in its log`);
	if (error.name === "AggregateError") return say(unreachable);
	return error;
}
