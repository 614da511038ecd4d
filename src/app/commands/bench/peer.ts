import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { userFlags } from "../../../engine/runtime/pjrt/index.js";
import type { Io } from "../io.js";
import { findTorch } from "../python.js";
import type { Settings } from "./peer-scripts.js";

/** The same model in another engine, which runs steps on request. */
export interface Peer {
	readonly about: { readonly engine: string; readonly blas: string; readonly parameters: number };
	/** Loss of the given weights on the given batch, before the first step. */
	readonly loss: number;
	/** Runs `count` steps and returns the seconds of each. */
	steps(count: number): Promise<number[]>;
	stop(): void;
}

/** Starts a script of `bench/peers/`; without PyTorch, prints why and returns undefined. */
export async function startPeer(
	io: Io,
	script: string,
	settings: Settings,
): Promise<Peer | undefined> {
	const torch = await findTorch();
	if (!torch) {
		io.stderr.write(
			"no Python with PyTorch found, so no ratio; on Debian: apt-get install python3-torch\n",
		);
		return undefined;
	}
	if (!torch.blas)
		io.stderr.write(
			"this PyTorch uses the reference BLAS, which is many times slower than OpenBLAS: " +
				"the ratio is meaningless. On Debian: apt-get install libopenblas0-pthread\n",
		);
	const { read, ask, stop } = startScript(torch.python, script, settings);
	const { loss, ...about } = (await read()) as { engine: string; parameters: number; loss: number };
	return {
		loss,
		about: { ...about, blas: torch.blas ?? "reference BLAS" },
		steps: async (count) => (await ask(count)) as number[],
		stop,
	};
}

/** A script of `bench/peers/`, which prints one line of JSON when it is ready, and one per request. */
export interface RunningScript {
	read(): Promise<unknown>;
	/** Requests steps and reads the answer. */
	ask(steps: number): Promise<unknown>;
	stop(): void;
}

export function startScript(python: string, script: string, settings: Settings): RunningScript {
	const file = fileURLToPath(new URL(`../../../../bench/peers/${script}`, import.meta.url));
	const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
	const child = spawn(python, ["-B", file, ...args], {
		stdio: ["pipe", "pipe", "pipe"],
		env: { ...process.env, XLA_FLAGS: userFlags(process.env.XLA_FLAGS) },
	});
	let lastErrors = "";
	child.stderr.on("data", (text) => {
		lastErrors = (lastErrors + text).slice(-2000);
	});
	// A script that has ended is noticed when its answer is read.
	child.stdin.on("error", () => {});
	const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
	const read = async () => {
		const { value, done } = await lines.next();
		if (done) throw new Error(`${script} ended early: ${lastErrors.trim().split("\n").at(-1)}`);
		return JSON.parse(value) as unknown;
	};
	return {
		read,
		ask(steps) {
			child.stdin.write(`${steps}\n`);
			return read();
		},
		stop: () => child.kill(),
	};
}
