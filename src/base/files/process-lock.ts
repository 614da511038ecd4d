import { createHash, randomUUID } from "node:crypto";
import {
	linkSync,
	readdirSync,
	readFileSync,
	readlinkSync,
	renameSync,
	rmSync,
	writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";
import { InputError } from "../errors.js";
import { errorCode, explainError } from "../system-errors.js";
import { isOtherProcess } from "./disk.js";

/** The holder of a lock, as written in its file. */
interface Holder {
	readonly pid: number;
	readonly host: string;
	/** When the process started (`startOf`); undefined if the system does not provide it. */
	readonly started?: string;
	/** The namespace of its process number; undefined if the system does not provide it. */
	readonly namespace?: string;
	/** `processId` of the holder. */
	readonly process?: unknown;
}

/** The namespace of process numbers: containers on one host may have their own. */
const ownNamespace = ((): string | undefined => {
	try {
		return readlinkSync("/proc/self/ns/pid");
	} catch {
		return undefined;
	}
})();

/** Distinguishes this process from an earlier one with the same number. */
const processId = randomUUID();

/**
 * Runs some work while holding a lock file. `task` completes the message "process 12 is …" that a second
 * process gets.
 *
 * A lock is created with its whole content in one step, and every content is unique. A lock whose
 * holder has died is replaced, never removed, and only by the process that holds a second lock, named
 * after the dead lock's content. So exactly one of the processes that find a dead lock replaces it.
 */
export async function holdingLock<T>(
	file: string,
	task: string,
	work: () => Promise<T>,
): Promise<T> {
	const content = ownContent();
	try {
		take(file, content, task);
		removeRemains(file);
	} catch (error) {
		if (error instanceof InputError) throw error;
		throw new InputError(`cannot write ${file}: ${explainError(error)}`, { cause: error });
	}
	const release = () => {
		if (read(file) === content) rmSync(file, { force: true });
	};
	process.once("exit", release);
	try {
		return await work();
	} finally {
		process.removeListener("exit", release);
		release();
	}
}

function ownContent(): string {
	const started = startOf(process.pid);
	const holder: Holder = {
		pid: process.pid,
		host: hostname(),
		...(started !== undefined && { started }),
		...(ownNamespace !== undefined && { namespace: ownNamespace }),
		process: processId,
	};
	return JSON.stringify({ ...holder, lock: randomUUID() });
}

/** Takes `file`, which is the lock itself or the guard of a dead lock's replacement. */
function take(lock: string, content: string, task: string, file = lock): void {
	while (!create(file, content)) {
		const holder = read(file);
		if (holder === undefined) continue; // it was released meanwhile
		refuseIfHeld(file, holder, task);
		const guard = `${lock}.after-${createHash("sha256").update(holder).digest("hex").slice(0, 16)}`;
		take(lock, content, task, guard);
		try {
			// Only the holder of the guard replaces this content, and no later lock has the same content.
			if (read(file) === holder) {
				replace(file, content);
				return;
			}
		} finally {
			rmSync(guard, { force: true });
		}
	}
}

const noLinks = ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"];

/** Creates the file with its whole content; false if it exists. */
function create(file: string, content: string): boolean {
	const temporary = writeTemporary(file, content);
	try {
		linkSync(temporary, file);
		return true;
	} catch (error) {
		const code = errorCode(error) ?? "";
		if (code === "EEXIST") return false;
		if (!noLinks.includes(code)) throw error;
	} finally {
		rmSync(temporary, { force: true });
	}
	// A file system without links: a reader may see an unreadable lock before its content is written.
	try {
		write(file, content);
		return true;
	} catch (error) {
		if (errorCode(error) === "EEXIST") return false;
		throw error;
	}
}

function replace(file: string, content: string): void {
	const temporary = writeTemporary(file, content);
	try {
		renameSync(temporary, file);
	} finally {
		rmSync(temporary, { force: true });
	}
}

function writeTemporary(file: string, content: string): string {
	const temporary = `${file}.tmp-${process.pid}-${randomUUID().slice(0, 8)}`;
	write(temporary, content);
	return temporary;
}

/** Writes a new file through to the device; removes it on failure. */
function write(file: string, content: string): void {
	try {
		writeFileSync(file, content, { flag: "wx", flush: true });
	} catch (error) {
		if (errorCode(error) !== "EEXIST") rmSync(file, { force: true });
		throw error;
	}
}

function read(file: string): string | undefined {
	try {
		return readFileSync(file, "utf8");
	} catch (error) {
		if (errorCode(error) === "ENOENT") return undefined;
		throw error;
	}
}

/** Removes temporary files of processes that died while taking this lock. */
function removeRemains(file: string): void {
	for (const name of readdirSync(dirname(file))) {
		if (!name.startsWith(`${basename(file)}.`)) continue;
		const path = join(dirname(file), name);
		const holder = holderIn(read(path) ?? "");
		const writer = /\.tmp-(\d+)-\w+$/.exec(name)?.[1]; // one that died while writing
		const isLeft = holder ? !isAlive(holder) : writer && !isOtherProcess(Number(writer));
		if (isLeft) rmSync(path, { force: true });
	}
}

function refuseIfHeld(file: string, content: string, task: string): void {
	const holder = holderIn(content);
	if (!holder)
		throw new InputError(
			`${file} does not say which process holds it: another process is just taking it, or it is damaged; ` +
				"try again; if no trajgpt runs, remove that file",
		);
	if (!isAlive(holder)) return;
	const { pid, host } = holder;
	throw new InputError(
		`process ${pid}${host === hostname() ? "" : ` on ${host}`} is ${task} (${file}); ` +
			"wait for it or stop it; if it has ended, remove that file",
	);
}

function holderIn(content: string): Holder | undefined {
	try {
		const { pid, host, started, namespace, ...rest } = JSON.parse(content);
		if (!Number.isSafeInteger(pid) || pid < 1 || typeof host !== "string") return undefined;
		return {
			pid,
			host,
			process: rest.process,
			...(typeof started === "string" && { started }),
			...(typeof namespace === "string" && { namespace }),
		};
	} catch {
		return undefined;
	}
}

/** A process of another host or container cannot be inspected and counts as alive. */
function isAlive({ pid, host, started, namespace, process: id }: Holder): boolean {
	if (host !== hostname() || (namespace ?? ownNamespace) !== ownNamespace) return true;
	if (pid === process.pid)
		return id === processId || (started !== undefined && started === startOf(pid));
	if (!isOtherProcess(pid)) return false;
	const now = startOf(pid);
	return now !== "ended" && (started === undefined || now === undefined || started === now);
}

/**
 * When a process started: the id of the system's boot and the clock ticks since, independent of changes to the
 * clock. Another process with the same number has another start. "ended" for a zombie; undefined if the system
 * does not provide it.
 */
function startOf(pid: number): string | undefined {
	try {
		const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
		const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
		// Fields from the third on, after the name in parentheses, which may contain any character.
		const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
		return fields[0] === "Z" || fields[0] === "X" ? "ended" : `${boot} ${fields[19]}`;
	} catch {
		return undefined;
	}
}
