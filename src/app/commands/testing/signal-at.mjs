// Loaded before the command line (node --import): at the nth change to the disk, half done where that
// can be, the process gets a signal. Between two such calls nothing on the disk changes, so every
// moment at which a process can die is one of these. What writes in other threads gets it when it
// says something on standard error.
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const { call, saying, signal } = JSON.parse(process.env.SIGNAL_AT ?? "{}");
let left = Number(call);
const calls = /** @type {Record<string, (...given: any[]) => unknown>} */ (
	/** @type {unknown} */ (fs)
);

const changes = [
	"mkdirSync",
	"openSync",
	"writeSync",
	"fsyncSync",
	"linkSync",
	"renameSync",
	"rmSync",
];
for (const name of changes) {
	const own = /** @type {(...given: unknown[]) => unknown} */ (calls[name]);
	calls[name] = (...given) => {
		if (--left === 0) {
			const [file, bytes, at = 0] = given;
			if (name === "writeSync" && signal === "SIGKILL")
				own(file, bytes, at, Math.floor((bytes.length - at) / 2));
			process.kill(process.pid, signal);
		}
		return own(...given);
	};
}
syncBuiltinESMExports();

const write = process.stderr.write.bind(process.stderr);
process.stderr.write = (/** @type {any[]} */ ...given) => {
	if (saying && String(given[0]).includes(saying)) process.kill(process.pid, signal);
	return write(.../** @type {[string]} */ (given));
};
