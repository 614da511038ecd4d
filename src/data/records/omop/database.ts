import postgres from "postgres";
import { InputError } from "../../../base/errors.js";
import { named, quoted } from "../sql.js";
import {
	addStaged,
	type CdmTable,
	cdmTables,
	concept,
	conceptRelationship,
	person,
	type TableSource,
} from "./tables.js";

interface DatabaseOptions {
	readonly schema?: string | undefined;
	readonly vocabularySchema?: string | undefined;
	readonly batchRows?: number | undefined;
}

type FoundTable = NonNullable<Awaited<ReturnType<typeof findTable>>>;

/**
 * Reads a CDM in one read-only transaction with a consistent snapshot of all tables. Rows are fetched in batches with
 * cursors.
 */
export async function withDatabase<T>(
	address: DatabaseAddress,
	options: DatabaseOptions,
	work: (source: TableSource) => Promise<T>,
): Promise<T> {
	const { shown } = address;
	let lost = false;
	const sql = postgres({
		...address.options,
		max: 1,
		connect_timeout: 15,
		fetch_types: false,
		onnotice: () => {},
		onclose: () => {
			lost = true;
		},
		connection: { application_name: "trajgpt" },
	});
	// A closed connection makes `begin` fail, but the library crashes on anything sent after that, such as a
	// rollback. So this never resolves once the connection is lost.
	const stopIfLost = async () => {
		if (lost) await new Promise(() => {});
	};
	try {
		const begun = sql.begin("isolation level repeatable read read only", (transaction) =>
			(async () => {
				await transaction.unsafe(
					"SET LOCAL datestyle = 'ISO, YMD'; SET LOCAL timezone = 'UTC'; SET LOCAL synchronize_seqscans = off",
				);
				return work(await databaseTables(transaction, stopIfLost, shown, options));
			})().finally(stopIfLost),
		);
		return (await begun) as T;
	} catch (error) {
		throw explainDatabase(shown, error);
	} finally {
		await sql.end({ timeout: 1 }).catch(() => {});
	}
}

async function databaseTables(
	sql: postgres.TransactionSql,
	stopIfLost: () => Promise<void>,
	shown: string,
	{ schema, vocabularySchema, batchRows = 10_000 }: DatabaseOptions,
): Promise<TableSource> {
	for (const [option, name] of [
		["`schema`", schema],
		["`vocabularySchema`", vocabularySchema],
	] as const)
		if (name !== undefined) await requireSchema(sql, shown, option, name);
	const tables = new Map<string, FoundTable>();
	for (const table of cdmTables) {
		const vocabulary = table === concept || table === conceptRelationship;
		const place = await findTable(sql, table, (vocabulary && vocabularySchema) || schema);
		if (place) tables.set(table.name, place);
	}
	if (vocabularySchema !== undefined && !tables.has(concept.name))
		throw new InputError(
			`${shown}: the schema ${vocabularySchema}, which \`vocabularySchema\` names, has no table concept`,
		);
	if (!tables.has(person.name))
		throw new InputError(
			`${shown} has no table person ${schema ? `in the schema ${schema}` : "on the search path"}; ${await otherSchemas(sql)}`,
		);
	const nameOf = (table: CdmTable) => {
		const place = tables.get(table.name);
		return `${shown}: ${place ? `${place.schema}.${place.name}` : schema ? `${schema}.${table.name}` : table.name}`;
	};
	return {
		notes: [],
		has: ({ name }) => tables.has(name),
		nameOf,
		places: (table) => async (_, rows) =>
			rows.map(
				({ row, patient = null }) =>
					`${nameOf(table)}: ${patient === null ? `row ${row} as the database sent them` : `a row of person ${patient}`}`,
			),
		placeSql: (table) => quoted(nameOf(table)),
		async stage(store, table, wanted) {
			const place = tables.get(table.name);
			if (!place) throw new InputError(`${nameOf(table)}: no such table`);
			const query = sql.unsafe(queryOf(place, table, nameOf(table), wanted));
			query.values();
			const names = Object.keys(table.columns);
			let rowsBefore = 0;
			for await (const rows of query.cursor(batchRows)) {
				const from = rowsAsSql(names, rows as unknown as readonly Text[][], rowsBefore);
				rowsBefore += rows.length;
				await addStaged(store, table, from).finally(stopIfLost);
			}
		},
	};
}

type Text = string | null;

function queryOf(
	place: FoundTable,
	table: CdmTable,
	shown: string,
	wanted: Parameters<TableSource["stage"]>[2],
): string {
	const list = Object.entries(table.columns).map(([ours, theirs]) => {
		const column = place.columns.get(theirs);
		if (column !== undefined) return `${named(column)}::text`;
		if (!table.required.includes(ours)) return "NULL::text";
		throw new InputError(
			`${shown} has no column ${theirs}; it has ${[...place.columns.values()].join(", ")}`,
		);
	});
	const where = wanted?.((name) => named(place.columns.get(name) ?? name));
	return `SELECT ${list.join(", ")} FROM ${named(place.schema)}.${named(place.name)}${where ? ` WHERE ${where}` : ""}`;
}

/** Rows as a table of numbers and texts: one list per column, which DuckDB unnests in parallel. */
function rowsAsSql(
	names: readonly string[],
	rows: readonly (readonly Text[])[],
	rowsBefore: number,
): string {
	const lists = names.map((_, at) => quoted(JSON.stringify(rows.map((row) => row[at] ?? null))));
	const columns = names.map((name) => `unnest(from_json(${name}, '["VARCHAR"]')) AS ${name}`);
	const numbers = `unnest(range(${rowsBefore + 1}, ${rowsBefore + rows.length + 1}))`;
	return `(SELECT ${numbers} AS row, ${columns.join(", ")} FROM (VALUES (${lists.join(", ")})) t(${names.join(", ")}))`;
}

async function findTable(
	sql: postgres.TransactionSql,
	{ name }: CdmTable,
	schema: string | undefined,
) {
	const tables = await sql<{ oid: string; schema: string; name: string }[]>`
		SELECT c.oid::text AS oid, n.nspname AS schema, c.relname AS name
		FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
		WHERE lower(c.relname) = ${name} AND c.relkind IN ('r', 'v', 'm', 'p', 'f')
			AND ${schema === undefined ? sql`pg_catalog.pg_table_is_visible(c.oid)` : sql`n.nspname = ${schema}`}
		ORDER BY c.relname = ${name} DESC, c.relname LIMIT 1`;
	const [table] = tables;
	if (!table) return undefined;
	const columns = await sql<{ name: string }[]>`
		SELECT attname AS name FROM pg_catalog.pg_attribute
		WHERE attrelid = ${table.oid}::oid AND attnum > 0 AND NOT attisdropped ORDER BY attnum`;
	return {
		schema: table.schema,
		name: table.name,
		/** Lower-case name → name in the database. */
		columns: new Map(columns.map((column) => [column.name.toLowerCase(), column.name])),
	};
}

async function requireSchema(
	sql: postgres.TransactionSql,
	shown: string,
	option: string,
	schema: string,
): Promise<void> {
	const [row] = await sql`SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = ${schema}`;
	if (row) return;
	throw new InputError(
		`${shown} has no schema ${schema}, which ${option} names; ${await otherSchemas(sql)}`,
	);
}

async function otherSchemas(sql: postgres.TransactionSql): Promise<string> {
	const others = await sql<{ name: string }[]>`
		SELECT DISTINCT n.nspname AS name
		FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
		WHERE lower(c.relname) = 'person' AND c.relkind IN ('r', 'v', 'm', 'p', 'f') ORDER BY 1`;
	return others.length > 0
		? `there is a table person in ${others.map((row) => row.name).join(", ")}: pass it as \`schema\``
		: "no schema of this database holds a table person";
}

type DatabaseAddress = ReturnType<typeof databaseAddress>;

const expected = "expected postgres://user@host:5432/database";
const sslModes = ["disable", "allow", "prefer", "require", "verify-full"] as const;

/** Parses the address of a PostgreSQL database. It may contain a password, so no message repeats it. */
export function databaseAddress(text: string) {
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
	const ssl = sslMode === "disable" ? false : sslMode;
	const options = Object.entries({ host, port, user, pass, database, ssl });
	return {
		options: Object.fromEntries(
			options.flatMap(([name, value]) =>
				value === undefined || value === "" ? [] : [[name, value] as const],
			),
		),
		/** For messages and files: without user and password. */
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
function explainDatabase(shown: string, error: unknown): unknown {
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
