import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Io } from "../io.js";
import { findTorch } from "../python.js";

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
	settings: Readonly<Record<string, string | number>>,
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
	const file = fileURLToPath(new URL(`../../../bench/peers/${script}`, import.meta.url));
	const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
	const child = spawn(torch.python, ["-B", file, ...args], { stdio: ["pipe", "pipe", "pipe"] });
	let lastErrors = "";
	child.stderr.on("data", (text) => {
		lastErrors = (lastErrors + text).slice(-2000);
	});
	const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
	const read = async () => {
		const { value, done } = await lines.next();
		if (done) throw new Error(`${script} ended early: ${lastErrors.trim().split("\n").at(-1)}`);
		return JSON.parse(value) as unknown;
	};
	const { loss, ...about } = (await read()) as { engine: string; parameters: number; loss: number };
	return {
		loss,
		about: { ...about, blas: torch.blas ?? "reference BLAS" },
		async steps(count) {
			child.stdin.write(`${count}\n`);
			return (await read()) as number[];
		},
		stop: () => child.kill(),
	};
}
