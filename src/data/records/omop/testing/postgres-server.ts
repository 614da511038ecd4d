import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

const debian = "/usr/lib/postgresql";

/** The folder of PostgreSQL's programs, if it is installed. */
export function postgresPrograms(): string | undefined {
	const folders = (process.env.PATH ?? "").split(delimiter);
	if (existsSync(debian))
		folders.push(...readdirSync(debian).map((version) => join(debian, version, "bin")));
	return folders.find((folder) =>
		["initdb", "postgres"].every((name) => folder && existsSync(join(folder, name))),
	);
}

export interface PostgresServer {
	readonly port: number;
	/** Where its socket is. */
	readonly folder: string;
	/** What it has written to its log so far. */
	log(): string;
	stop(): Promise<void>;
}

export const superuser = "tester";
export const password = "swordfish";

/** PostgreSQL does not run as root; a child of root runs as somebody else. */
function otherUser(): { uid: number; gid: number } | Record<string, never> {
	if (process.getuid?.() !== 0) return {};
	for (const name of ["postgres", "nobody"])
		try {
			const id = (flag: string) => Number(execFileSync("id", [flag, name], { stdio: "pipe" }));
			return { uid: id("-u"), gid: id("-g") };
		} catch {}
	throw new Error("no user postgres or nobody to run the server as");
}

async function freePort(): Promise<number> {
	const server = createServer().listen(0, "127.0.0.1");
	await once(server, "listening");
	const address = server.address();
	server.close();
	await once(server, "close");
	return typeof address === "object" && address ? address.port : 0;
}

/** A server of its own that is gone, with all it held, after `stop` or with this process. */
export async function startPostgres(programs: string): Promise<PostgresServer> {
	const folder = mkdtempSync(join(tmpdir(), "trajgpt-postgres-"));
	const remove = () => rmSync(folder, { recursive: true, force: true });
	let child: ChildProcess | undefined;
	const kill = () => {
		child?.kill("SIGKILL");
		remove();
	};
	process.once("exit", kill);
	try {
		const user = otherUser();
		const data = join(folder, "data");
		const secret = join(folder, "password");
		await writeFile(secret, password);
		if (user.uid !== undefined)
			for (const path of [folder, secret]) chownSync(path, user.uid, user.gid);
		const options = { cwd: folder, ...user, env: { PATH: process.env.PATH, LC_ALL: "C.UTF-8" } };
		execFileSync(
			join(programs, "initdb"),
			["-D", data, "-U", superuser, "-E", "UTF8", "--no-sync", "--auth-local=trust"].concat(
				"--auth-host=scram-sha-256",
				`--pwfile=${secret}`,
			),
			{ ...options, stdio: "pipe" },
		);
		const port = await freePort();
		const settings = [
			`port=${port}`,
			"listen_addresses=127.0.0.1",
			`unix_socket_directories=${folder}`,
			"fsync=off",
			"log_statement=all",
			"logging_collector=off",
		];
		child = spawn(
			join(programs, "postgres"),
			["-D", data, ...settings.flatMap((setting) => ["-c", setting])],
			{ ...options, stdio: ["ignore", "ignore", "pipe"] },
		);
		let log = "";
		const ready = new Promise<void>((resolve, reject) => {
			child?.stderr?.setEncoding("utf8").on("data", (text: string) => {
				log += text;
				if (log.includes("ready to accept connections")) resolve();
			});
			child?.once("error", reject);
			child?.once("exit", () => reject(new Error(`PostgreSQL did not start:\n${log}`)));
		});
		await ready;
		const server = child;
		return {
			port,
			folder,
			log: () => log,
			async stop() {
				if (server.exitCode === null && server.signalCode === null) {
					const gone = once(server, "exit");
					server.kill("SIGINT"); // a fast shutdown
					await gone;
				}
				process.removeListener("exit", kill);
				remove();
			},
		};
	} catch (error) {
		kill();
		process.removeListener("exit", kill);
		throw error;
	}
}
