import { spawn, spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../../../", import.meta.url));

/** Can system calls be watched here? Containers may forbid it, and only Linux has strace. */
export const canTrace = spawnSync("strace", ["-f", "-o", "/dev/null", "true"]).status === 0;

const calls = "?open,openat,?creat,?mkdir,mkdirat,connect,sendto,sendmsg,sendmmsg";

export interface Trapped {
	readonly code: number | null;
	readonly stdout: string;
	readonly stderr: string;
	/** Files and folders left in the empty home, cache and temporary folders. */
	readonly left: readonly string[];
	/** Created outside of the work, temporary and repository folders, also where it was removed again. */
	readonly created: readonly string[];
	/** Name lookups, and addresses of other machines that were contacted. */
	readonly contacted: readonly string[];
}

/**
 * Runs Node in an empty home, watching files, name lookups and connections of the process, its
 * threads and its children. `work` is where it may write; `until` is called with what it has
 * written so far and may end it.
 */
export async function trapped(
	argv: readonly string[],
	options: {
		readonly work?: string;
		readonly env?: Record<string, string>;
		until?(stdout: string, stop: () => void): void;
	} = {},
): Promise<Trapped> {
	const folder = await mkdtemp(join(tmpdir(), "trajgpt-trap-"));
	const at = (name: string) => join(folder, name);
	const empty = { HOME: at("home"), XDG_CACHE_HOME: at("cache"), TMPDIR: at("tmp") };
	try {
		for (const path of Object.values(empty)) await mkdir(path);
		const watched = ["-f", "--seccomp-bpf", "-s", "512", "-e", `trace=${calls}`, "-o", at("trace")];
		const command = canTrace ? ["strace", ...watched, process.execPath] : [process.execPath];
		const child = spawn(command[0] as string, [...command.slice(1), ...argv], {
			cwd: root,
			// strace does not see what io_uring does.
			env: { PATH: process.env.PATH, UV_USE_IO_URING: "0", ...empty, ...options.env },
			// A group of its own, so that the signal reaches Node and not only strace.
			detached: true,
		});
		const written = { stdout: "", stderr: "" };
		const stop = () => process.kill(-(child.pid as number), "SIGTERM");
		for (const stream of ["stdout", "stderr"] as const)
			child[stream].on("data", (chunk) => {
				written[stream] += chunk;
				options.until?.(written.stdout, stop);
			});
		const code = await new Promise<number | null>((resolve, reject) => {
			child.on("error", reject);
			child.on("close", resolve);
		});
		const left: string[] = [];
		for (const path of Object.values(empty))
			left.push(...(await readdir(path, { recursive: true })).sort());
		const trace = canTrace ? (await readFile(at("trace"), "utf8")).split("\n") : [];
		const allowed = [root, empty.TMPDIR, ...(options.work ? [options.work] : [])];
		return { code, ...written, left, ...whatHappened(trace, allowed) };
	} finally {
		await rm(folder, { recursive: true });
	}
}

function whatHappened(trace: readonly string[], allowed: readonly string[]) {
	const created = new Set<string>();
	const contacted = new Set<string>();
	for (const line of trace) {
		const path = /"([^"]*)"/.exec(line)?.[1] ?? "";
		const creates = /mkdir(at)?\(|creat\(|O_CREAT/.test(line) && !line.includes("EEXIST");
		if (creates && !path.startsWith("/dev/") && !allowed.some((own) => path.startsWith(own)))
			created.add(path);
		// systemd's resolver; other lookups go to port 53.
		if (line.includes("io.systemd.Resolve")) contacted.add("a name lookup");
		const address = /inet_addr\("([^"]*)"\)|inet_pton\(AF_INET6, "([^"]*)"/.exec(line);
		const host = address?.[1] ?? address?.[2];
		const port = /sin6?_port=htons\((\d+)\)/.exec(line)?.[1];
		if (host === undefined) continue;
		if (port === "53") contacted.add("a name lookup");
		else if (!/^(127\.|::1$|::ffff:127\.|0\.0\.0\.0$|::$)/.test(host))
			contacted.add(`${host}:${port}`);
	}
	return { created: [...created].sort(), contacted: [...contacted].sort() };
}
