// Everything a bare clone needs before `npm start` or `npm test`: dependencies from the lockfile, then dist.
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
	cpSync,
	existsSync,
	readdirSync,
	readFileSync,
	rmSync,
	statSync,
	writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const at = (/** @type {string[]} */ ...parts) => join(root, ...parts);
const readJson = (/** @type {string} */ path) => JSON.parse(readFileSync(path, "utf8"));
const say = (/** @type {string} */ text) => process.stderr.write(`set-up: ${text}\n`);

class SetUpError extends Error {}

function checkNode() {
	const wanted = readJson(at("package.json")).engines.node.replace(">=", "");
	const [major = 0, minor = 0] = wanted.split(".").map(Number);
	const [ownMajor = 0, ownMinor = 0] = process.versions.node.split(".").map(Number);
	if (ownMajor > major || (ownMajor === major && ownMinor >= minor)) return;
	throw new SetUpError(
		`Node ${wanted} or later is needed, this is ${process.versions.node}; install a newer Node and run this again`,
	);
}

/** npm writes node_modules/.package-lock.json last, so it lists the contents of a finished installation. */
function installed() {
	const path = at("node_modules", ".package-lock.json");
	if (!existsSync(path)) return false;
	const present = readJson(path).packages;
	const wanted = readJson(at("package-lock.json")).packages;
	for (const name of Object.keys(wanted)) {
		if (name === "") continue;
		const [want, have] = [wanted[name], present[name]];
		if (have ? have.integrity !== want.integrity : !want.optional) return false;
		if (have?.cpu && !have.cpu.includes(process.arch)) return false;
	}
	return true;
}

function install() {
	say("installing the dependencies in package-lock.json");
	const npm = process.env.npm_execpath;
	const [command, first] = npm?.endsWith("js") ? [process.execPath, [npm]] : ["npm", []];
	const result = spawnSync(command, [...first, "ci", "--include=dev", "--loglevel=error"], {
		cwd: root,
		stdio: ["ignore", 2, 2],
	});
	if (result.status === 0) return;
	throw new SetUpError(
		result.error
			? `npm could not be started (${result.error.message}); install npm and run this again`
			: "npm could not install the dependencies (its reason is above); check that the npm registry answers (npm ping) and that the disk has room, then run this again",
	);
}

/** @returns {string[]} */
function filesUnder(/** @type {string} */ folder) {
	if (!existsSync(folder)) return [];
	return readdirSync(folder, { recursive: true, encoding: "utf8" })
		.map((name) => join(folder, name))
		.filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile())
		.sort();
}

function sourceHash() {
	const sources = [...filesUnder(at("src")), ...filesUnder(at("web"))].filter(
		(path) => !/\.test\.ts$|[\\/]testing[\\/]/.test(path),
	);
	const settings = [
		"package-lock.json",
		"tsconfig.options.json",
		"tsconfig.data.json",
		"tsconfig.numeric.json",
		"tsconfig.app.json",
		"scripts/build-browser.mjs",
		"scripts/build-cli.mjs",
		"scripts/build-web.mjs",
		"scripts/compress.mjs",
	].map((name) => at(name));
	const hash = createHash("sha256");
	for (const path of [...settings, ...sources]) {
		hash.update(relative(root, path)).update("\0").update(readFileSync(path)).update("\0");
	}
	return hash.digest("hex");
}

const stampPath = at("dist", ".source-hash");

function built() {
	return existsSync(stampPath) && readFileSync(stampPath, "utf8") === sourceHash();
}

/** @returns {Promise<void>} */
function ran(/** @type {string} */ failure, /** @type {string[]} */ ...args) {
	const child = spawn(process.execPath, args, { cwd: root, stdio: ["ignore", 2, 2] });
	return new Promise((resolve, reject) => {
		child.on("error", reject);
		child.on("close", (code) => (code === 0 ? resolve() : reject(new SetUpError(failure))));
	});
}

async function build() {
	say("building dist");
	const hash = sourceHash();
	for (const path of filesUnder(at("dist"))) {
		const source = at("src", relative(at("dist"), path).replace(/(\.d\.ts|\.js)$/, ".ts"));
		if (!existsSync(source)) rmSync(path);
	}
	const compiled = ran(
		"the TypeScript sources could not be compiled (see above); correct them first",
		at("node_modules", "typescript", "bin", "tsc"),
		"-b",
		"tsconfig.app.json",
		// Types are checked by `npm run check`: here they would double the time.
		"--noCheck",
	);
	const bundled = async () => {
		for (const [script, what] of [
			["build-browser.mjs", "the browser library"],
			["build-cli.mjs", "the command line"],
			["build-web.mjs", "the explorer"],
		])
			await ran(
				`${what} could not be built (see above); correct it first`,
				at("scripts", String(script)),
			);
	};
	// The bundles are built from the sources, not from the compiler's output.
	const results = await Promise.allSettled([compiled, bundled()]);
	for (const result of results) if (result.status === "rejected") throw result.reason;
	// The compiler leaves out files that are not code.
	const taskFiles = join("data", "tasks", "library");
	cpSync(at("src", taskFiles), at("dist", taskFiles), { recursive: true });
	writeFileSync(stampPath, hash);
}

const lockPath = at(".set-up.lock");

/** Far longer than an installation takes; a lock held longer is not held by a set-up. */
const waitSeconds = Number(process.env.SET_UP_WAIT_SECONDS ?? 900);

/** @returns {number | undefined} the process that holds the lock, if it is there */
function lockHolder() {
	const pid = existsSync(lockPath) ? Number(readFileSync(lockPath, "utf8")) : 0;
	if (!Number.isSafeInteger(pid) || pid <= 0) return undefined;
	try {
		process.kill(pid, 0);
		return pid;
	} catch (error) {
		// EPERM: alive, under another user.
		return /** @type {NodeJS.ErrnoException} */ (error).code === "EPERM" ? pid : undefined;
	}
}

async function withLock(/** @type {() => Promise<void>} */ work) {
	const started = Date.now();
	for (let told = false; ; ) {
		try {
			writeFileSync(lockPath, String(process.pid), { flag: "wx" });
			break;
		} catch (error) {
			if (/** @type {NodeJS.ErrnoException} */ (error).code !== "EEXIST") throw error;
		}
		const holder = lockHolder();
		if (holder === undefined) {
			rmSync(lockPath, { force: true });
			continue;
		}
		if (!told) say(`waiting for process ${holder}, which sets up here (it holds ${lockPath})`);
		told = true;
		if (Date.now() - started >= waitSeconds * 1000) {
			throw new SetUpError(
				`process ${holder} has not ended its set-up in ${waitSeconds} seconds; if it is another program, remove ${lockPath} and run this again`,
			);
		}
		await new Promise((resolve) => setTimeout(resolve, 200));
	}
	try {
		await work();
	} finally {
		rmSync(lockPath, { force: true });
	}
}

try {
	checkNode();
	if (!installed() || !built()) {
		await withLock(async () => {
			if (!installed()) install();
			if (!built()) await build();
		});
	}
} catch (error) {
	if (!(error instanceof SetUpError)) throw error;
	say(`error: ${error.message}`);
	process.exitCode = 1;
}
