// What a few tests need beyond npm: Debian's PostgreSQL, Chromium, strace and a C compiler. Where they cannot be installed, those tests are skipped.
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

const chromiumInstalled = () => existsSync("/usr/bin/chromium");

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

const tools = [
	{ name: "PostgreSQL server", there: postgresInstalled, package: "postgresql" },
	{ name: "Chromium", there: chromiumInstalled, package: "chromium" },
	{ name: "strace", there: () => existsSync("/usr/bin/strace"), package: "strace" },
	{ name: "a C compiler", there: () => existsSync("/usr/bin/gcc"), package: "gcc" },
	{
		name: "the headers of C",
		there: () => existsSync("/usr/include/stdio.h"),
		package: "libc6-dev",
	},
];
const missing = tools.filter(({ there }) => !there());
const packages = missing.map((tool) => tool.package).join(", ");
if (missing.length > 0 && mayInstall)
	say(`about to install from Debian, for a few tests: ${packages} (TRAJGPT_NO_APT=1 refuses)`);
for (const tool of missing) {
	if (mayInstall && install(tool.package)) continue;
	const reason = mayInstall ? `${tool.package} could not be installed` : "it is not installed";
	say(`tests that need ${tool.name} are skipped: ${reason}`);
}
