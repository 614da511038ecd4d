// What a few tests want beyond npm: Debian's PostgreSQL. Where it cannot be installed those tests skip, saying so.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

const say = (/** @type {string} */ text) => process.stderr.write(`test-tools: ${text}\n`);

/** Debian keeps the server's programs out of PATH. */
function postgresInstalled() {
	const versions = "/usr/lib/postgresql";
	const folders = [
		...(process.env.PATH ?? "").split(":"),
		...(existsSync(versions)
			? readdirSync(versions).map((name) => join(versions, name, "bin"))
			: []),
	];
	return folders.some((folder) => existsSync(join(folder, "initdb")));
}

function install(/** @type {string} */ name) {
	const run = (/** @type {string[]} */ ...args) =>
		spawnSync("apt-get", args, {
			stdio: ["ignore", "ignore", "ignore"],
			timeout: 240_000,
			env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
		}).status === 0;
	return (
		run("install", "-y", "--no-install-recommends", name) ||
		(run("update") && run("install", "-y", "--no-install-recommends", name))
	);
}

const mayInstall =
	process.getuid?.() === 0 && existsSync("/usr/bin/apt-get") && !process.env.TRAJGPT_NO_APT;

if (!postgresInstalled()) {
	if (!mayInstall) say("no PostgreSQL server here, and no right to install one: its test skips");
	else {
		say("installing Debian's postgresql for one test (TRAJGPT_NO_APT=1 leaves it out)");
		if (!install("postgresql")) say("it could not be installed: the test skips");
	}
}
