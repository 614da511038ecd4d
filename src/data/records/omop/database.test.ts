import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { InputError } from "../../../base/errors.js";
import type { OmopOptions } from "../options.js";
import { openStore, type Store } from "../store.js";
import { load } from "../testing/load.js";
import { temporaryFolder } from "../testing/temporary-folder.js";
import { databaseAddress } from "./database.js";
import { openOmop } from "./index.js";
import { type Cdm, cdm, columnsOf, fieldsOf, vocabulary, writeCdm } from "./testing/cdm.js";
import {
	type PostgresServer,
	password,
	postgresPrograms,
	startPostgres,
	superuser,
} from "./testing/postgres-server.js";

const programs = postgresPrograms();
if (!programs) console.warn("no PostgreSQL on this machine: its tests are skipped");

const typeOf = (column: string): string =>
	/_date$/.test(column)
		? "date"
		: /_datetime$/.test(column)
			? "timestamp"
			: /_id(_[12])?$|_of_birth$/.test(column) &&
					!/^(relationship|vocabulary|domain|concept_class)_/.test(column)
				? "bigint"
				: "text";

describe.skipIf(!programs)("a database", () => {
	let server: PostgresServer;
	let sql: postgres.Sql;

	beforeAll(async () => {
		server = await startPostgres(programs ?? "");
		sql = postgres({
			host: server.folder,
			port: server.port,
			user: superuser,
			database: "postgres",
			onnotice: () => {},
		});
		await createCdm("cdm", cdm);
		await createCdm("words", vocabulary);
		await sql.unsafe(`
			CREATE SCHEMA big;
			CREATE TABLE big.person (person_id int, gender_concept_id int, year_of_birth int);
			INSERT INTO big.person SELECT i, 8507, 1950 FROM generate_series(1, 50) i;
			CREATE TABLE big.condition_era (condition_era_id int, person_id int,
				condition_concept_id int, condition_era_start_date date);
			INSERT INTO big.condition_era
				SELECT i, 1 + i % 50, i, date '2020-01-01' + i / 50 FROM generate_series(1, 25000) i;
			CREATE ROLE guest LOGIN PASSWORD 'guest'`);
	});

	afterAll(async () => {
		await sql?.end({ timeout: 1 });
		await server?.stop();
	});

	async function createCdm(schema: string, tables: Cdm): Promise<void> {
		await sql.unsafe(`CREATE SCHEMA ${schema}`);
		for (const [table, rows] of Object.entries(tables)) {
			const columns = columnsOf(table);
			const list = columns.map((column) => `${column} ${typeOf(column)}`);
			await sql.unsafe(`CREATE TABLE ${schema}.${table} (${list.join(", ")})`);
			for (const row of rows) {
				const values = fieldsOf(columns, row).map((field) =>
					field === "" ? "NULL" : `'${field.replaceAll("'", "''")}'`,
				);
				await sql.unsafe(`INSERT INTO ${schema}.${table} VALUES (${values.join(", ")})`);
			}
		}
	}

	const address = (user = `${superuser}:${password}`, database = "postgres") =>
		`postgres://${user}@127.0.0.1:${server.port}/${database}`;

	const loadFrom = async (options: OmopOptions, db = address()) =>
		load(await openOmop(undefined, { db, ...options }));

	test("yields the same as files with the same data", async () => {
		for (const tables of [cdm, { ...cdm, ...vocabulary }]) {
			const folder = await temporaryFolder();
			await writeCdm(folder, tables);
			const options = { observations: true };
			const want = await load(await openOmop(folder, options));
			const got = await loadFrom({
				...options,
				schema: "cdm",
				vocabularySchema: "concept" in tables ? "words" : undefined,
				batchRows: 3,
			});
			expect(got.axis).toBe("dates");
			expect(got.records).toEqual(want.records);
			expect(got.records.length).toBeGreaterThan(5);
			expect(got.names).toEqual(want.names);
			expect(got.periods).toEqual(want.periods);
			expect(got.observation).toBe("observation_period");
			expect(got.people.map(({ place, ...row }) => row)).toEqual(
				want.people.map(({ place, ...row }) => row),
			);
			expect(got.people[0]?.place).toBe(`postgres://127.0.0.1:${server.port}/postgres: cdm.person`);
			expect(got.notes).toEqual(want.notes);
		}
	});

	test("reads all rows with cursors in one read-only transaction", async () => {
		const before = server.log().length;
		const { records } = await loadFrom({ schema: "big" });
		expect(records).toHaveLength(25_000);
		expect(records.map((row) => row.code)).toEqual(records.map((_, at) => String(at + 1)));
		const log = server.log().slice(before);
		expect(log.match(/: begin .*/gi)).toEqual([
			": begin isolation level repeatable read read only",
		]);
		const reads = log.split("\n").filter((line) => line.includes('FROM "big"."condition_era"'));
		expect(reads.filter((line) => / execute <unnamed>/.test(line))).toHaveLength(1);
		expect(reads.filter((line) => / execute fetch from /.test(line))).toHaveLength(2);
		expect(log).not.toMatch(/\b(insert|update|delete|create|drop|alter|copy)\b/i);
	});

	test("supports the user's search path, sockets and upper case", async () => {
		await sql.unsafe(`ALTER ROLE guest SET search_path = "Mine", words;
			CREATE SCHEMA "Mine"; GRANT USAGE ON SCHEMA "Mine", words TO guest;
			CREATE TABLE "Mine"."PERSON" ("PERSON_ID" int, "YEAR_OF_BIRTH" int);
			INSERT INTO "Mine"."PERSON" VALUES (1, 1950);
			CREATE VIEW "Mine".condition_era AS SELECT 1 AS person_id, 255848 AS condition_concept_id,
				timestamptz '2020-01-31 12:00:00+02' AS condition_era_start_date;
			GRANT SELECT ON ALL TABLES IN SCHEMA "Mine", words TO guest`);
		const db = `postgresql://guest@:${server.port}/postgres?host=${encodeURIComponent(server.folder)}`;
		const source = await openOmop(undefined, {
			db: db.replace("@:", "@localhost:"),
		});
		expect(source.path).toBe(`postgres:///postgres?host=${server.folder}`);
		const { records, names } = await load(source);
		expect(records).toMatchObject([{ patient: "1", code: "255848" }]);
		expect(records[0]?.time).toBe(Date.UTC(2020, 0, 31, 10) / 86_400_000);
		expect(names).toMatchObject([{ system: "OMOP", code: "255848", name: "Pneumonia" }]);
	});

	test("the password may come from PGPASSWORD", async () => {
		process.env.PGPASSWORD = password;
		onTestFinished(() => {
			delete process.env.PGPASSWORD;
		});
		const { records } = await loadFrom({ schema: "cdm" }, address(superuser));
		expect(records.length).toBeGreaterThan(5);
	});

	test("explains errors without the password", async () => {
		const shown = `postgres://127.0.0.1:${server.port}/postgres`;
		const refused = async (options: OmopOptions, db?: string) => {
			const error = await loadFrom(options, db).catch((thrown: unknown) => thrown);
			expect(error).toBeInstanceOf(InputError);
			const { message } = error as InputError;
			expect(message).not.toMatch(/swordfish|secret|tester/);
			return expect(message);
		};
		(await refused({}, address("tester:secret"))).toMatch(
			`${shown}: the user or password is refused; check the user in \`db\` and the password in PGPASSWORD`,
		);
		(await refused({}, address(undefined, "none"))).toMatch(/\/none: no such database/);
		(await refused({}, "postgres://tester:secret@127.0.0.1:1/postgres")).toMatch(
			/127\.0\.0\.1:1\/postgres: no PostgreSQL server answers there/,
		);
		(await refused({}, "postgres://tester:secret@127.0.0.1:1/x?host=/none")).toMatch(
			/^postgres:\/\/\/x\?host=\/none: no PostgreSQL server answers there/,
		);
		(await refused({ schema: "omop" })).toMatch(
			/has no schema omop, which `schema` names; there is a table person in Mine, big, cdm/,
		);
		(await refused({})).toMatch(/no table person on the search path; there is a table person in/);
		(await refused({ schema: "words" })).toMatch(/no table person in the schema words; there is/);
		(await refused({ schema: "cdm", vocabularySchema: "big" })).toMatch(
			/schema big, which `vocabularySchema` names, has no table concept/,
		);
		(await refused({ schema: "cdm", drugTable: "era" })).toMatch(
			/cdm\.drug_era: no such table, which `drugTable` era asks for; check `schema`/,
		);
		(await refused({ schema: "cdm" }, address("guest:guest"))).toMatch(
			`${shown}: this user may not read the tables; ask for GRANT USAGE on the schema and GRANT SELECT`,
		);
		await sql.unsafe(`CREATE SCHEMA odd;
			CREATE TABLE odd.person (person_id int, born int);
			CREATE TABLE odd.condition_era (LIKE big.condition_era)`);
		(await refused({ schema: "odd" })).toMatch(
			/odd\.person has no column year_of_birth; it has person_id, born/,
		);
		await sql.unsafe(`ALTER TABLE odd.person RENAME born TO year_of_birth`);
		(await refused({ schema: "odd" })).toMatch(/odd\.person contains no people/);
		await sql.unsafe(`INSERT INTO odd.person VALUES (1, 1950)`);
		(await refused({ schema: "odd" })).toMatch(/odd\.condition_era contains no rows/);
		await sql.unsafe(`INSERT INTO odd.condition_era VALUES (1, 17, 5, 'infinity')`);
		(await refused({ schema: "odd" })).toMatch(
			/odd\.condition_era: a row of person 17: condition_era_start_date is "infinity"; expected/,
		);
	});

	test("a connection lost while the server works", async () => {
		const { reading } = await sql.begin(async (holder) => {
			await holder`LOCK TABLE big.condition_era IN ACCESS EXCLUSIVE MODE`;
			const reading = loadFrom({ schema: "big" }).catch((error: unknown) => error);
			let waiting: { pid: number } | undefined;
			while (!waiting)
				[waiting] = await holder<{ pid: number }[]>`SELECT pid FROM pg_locks WHERE NOT granted`;
			await holder`SELECT pg_terminate_backend(${waiting.pid}, 5000)`;
			return { reading };
		});
		const error = await reading;
		expect(error).toBeInstanceOf(InputError);
		expect((error as InputError).message).toMatch(/was lost while reading; try again/);
	});

	test("a connection lost between two batches", async () => {
		const store = await openStore({ folder: await temporaryFolder(), memory: 2 ** 28, threads: 1 });
		onTestFinished(() => store.close());
		let batches = 0;
		const cut: Store = {
			...store,
			async run(text) {
				await store.run(text);
				if (text.startsWith("INSERT INTO omop_condition_era") && ++batches === 2)
					await sql`SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'trajgpt'`;
			},
		};
		const source = await openOmop(undefined, { db: address(), schema: "big", batchRows: 1000 });
		await expect(source.load(cut)).rejects.toThrow(
			`postgres://127.0.0.1:${server.port}/postgres: the connection to the database was lost while reading; try again`,
		);
		expect(batches).toBe(2);
	});
});

test.each([
	["", /`db` is no address of a PostgreSQL database; expected postgres:/],
	["host=localhost password=secret", /`db` is no address/],
	["mysql://root:secret@host/db", /`db` begins with "mysql:\/\/"/],
	["postgres://root:secret@host/db?sslmode=maybe", /sslmode="maybe"; expected one of disable/],
	["postgres://root:secret@host/db?options=-c", /the parameter "options"; expected host/],
	["postgres://root:secret%@host/db", /a % that stands for no character/],
])("rejects the address %j", async (db, message) => {
	const error = await openOmop(undefined, { db }).catch((thrown: unknown) => thrown);
	expect(error).toBeInstanceOf(InputError);
	expect((error as InputError).message).toMatch(message);
	expect((error as InputError).message).not.toMatch(/secret/);
});

test("an address is shown without user and password", () => {
	const shown = (text: string) => databaseAddress(text).shown;
	expect(shown("postgres://root:secret@host:5433/db")).toBe("postgres://host:5433/db");
	expect(shown("postgresql://root@host/db?sslmode=require")).toBe("postgres://host/db");
	expect(databaseAddress("postgres://a:b%40c@host/db?sslmode=disable").options).toEqual({
		host: "host",
		user: "a",
		pass: "b@c",
		database: "db",
		ssl: false,
	});
});
