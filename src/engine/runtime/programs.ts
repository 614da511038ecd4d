import type { Graph } from "../tensor/index.js";
import type { Feeds, Pending, Program, Resident, RunOptions, Runtime } from "./runtime.js";

interface Entry {
	readonly program: Promise<Program>;
	/** Number of unfinished runs. */
	users: number;
}

interface ProgramsOptions<K> {
	readonly keyText?: (key: K) => string;
	/** Maximum number of programs kept; the least recently used one is evicted. */
	readonly most?: number;
}

/** Programs compiled on first use, one per key: a shape or, with open sizes, a kind of shape. */
export function programs<K>(
	runtime: Runtime,
	build: (key: K) => Graph,
	{ keyText = String, most = Number.POSITIVE_INFINITY }: ProgramsOptions<K> = {},
) {
	// In order of last use.
	const compiled = new Map<string, Entry>();
	let disposed = false;

	const release = async (entry: Entry) => (await entry.program).dispose();

	async function makeRoom(): Promise<void> {
		for (const [text, entry] of compiled) {
			if (compiled.size <= most) return;
			if (entry.users > 0) continue;
			compiled.delete(text);
			await release(entry);
		}
	}

	function entryOf(key: K): Entry {
		if (disposed) throw new Error("these programs were disposed");
		const text = keyText(key);
		const entry = compiled.get(text) ?? { program: runtime.compile(build(key)), users: 0 };
		compiled.delete(text);
		compiled.set(text, entry);
		return entry;
	}

	async function using<R>(key: K, use: (program: Program) => Promise<R>): Promise<R> {
		const entry = entryOf(key);
		entry.users++;
		try {
			const program = await entry.program.catch((error) => {
				compiled.delete(keyText(key));
				throw error;
			});
			return await use(program);
		} finally {
			entry.users--;
			await makeRoom();
		}
	}

	return {
		/** As `Program.run`, with the key's program. */
		run: (key: K, ...rest: Parameters<Program["run"]>) =>
			using(key, (program) => program.run(...rest)),
		/** As `Program.enqueue`, with the key's program; where the runtime has no queue, the run is over. */
		enqueue: (key: K, feeds: Feeds | readonly Feeds[], resident?: Resident, options?: RunOptions) =>
			using(key, (program) => started(program, feeds, resident, options)),
		/** Starts to compile the key's program, before its first use. */
		compile(key: K): void {
			entryOf(key).program.catch(() => {}); // reported when it is used
		},
		async dispose(): Promise<void> {
			disposed = true;
			const all = [...compiled.values()];
			compiled.clear();
			await Promise.allSettled(all.map(release));
		},
	};
}

/** Starts a run; without a queue, waits until it is over. */
export async function started(
	program: Program,
	feeds: Feeds | readonly Feeds[],
	resident?: Resident,
	options?: RunOptions,
): Promise<Pending> {
	if (program.enqueue) return program.enqueue(feeds, resident, options);
	const [feed = {}] = [feeds].flat();
	const outputs = await program.run(feed, resident, options);
	return { read: async () => outputs, dispose: () => {} };
}
