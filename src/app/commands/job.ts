import { setTimeout as delay } from "node:timers/promises";
import type { Command } from "commander";
import { type Communicator, oneProcess } from "../../base/communicator.js";
import { InputError } from "../../base/errors.js";
import { chooseGpu, launchOf, openCommunicator } from "../../engine/mpi/index.js";
import type { Program } from "./commands.js";
import { Exit, type Io } from "./io.js";

/** The processes that `mpirun` or `srun` started, as a command sees them. */
interface Job {
	/** The streams of this process: other ranks than 0 say nothing. */
	readonly io: Io;
	readonly communicator: Communicator;
	/** Joins the others, before a command acts. */
	join(command: Command): Promise<void>;
	leave(): void;
	/** Reports an error, ends all processes and returns the exit code; `report` writes the message. */
	fail(error: unknown, report: (io: Io) => number): Promise<number>;
}

/** Most errors are the same on all ranks. Rank 0 reports them, and ends the others before they do. */
const headStartMilliseconds = 2000;

/** When a job is aborted, the launcher may drop output that it has not forwarded yet. */
const outputGraceMilliseconds = 500;

const silent = (io: Io): Io => ({
	stdout: { write() {} },
	stderr: { write() {} },
	env: io.env,
});

export function jobOf(io: Io, program: Program): Job {
	const launch = launchOf(io.env);
	const { rank = 0, size = 1 } = launch ?? {};
	let communicator = oneProcess;
	let begun = false;
	return {
		io: rank === 0 ? io : silent(io),
		get communicator() {
			return communicator;
		},
		async join(command) {
			if (!launch) return;
			const name = topLevel(command);
			const dividing = program.commands.filter(({ divides }) => divides).map(({ name }) => name);
			if (!dividing.includes(name))
				throw new InputError(
					`${launch.launcher} started ${size} processes, and \`${program.name} ${name}\` runs in one; start it without a launcher (processes share the work of: ${dividing.join(", ")})`,
				);
			begun = true;
			communicator = await openCommunicator(io.env);
			chooseGpu(communicator, process.env);
		},
		leave: () => communicator.close(),
		async fail(error, report) {
			if (!launch) return report(io);
			if (error instanceof Exit) {
				communicator.close();
				return error.code;
			}
			// The command line is the same on all ranks.
			if (rank > 0 && !begun) return report(silent(io));
			if (rank > 0) await delay(headStartMilliseconds);
			if (rank > 0) io.stderr.write(`rank ${rank} of ${size}: `);
			const code = report(io);
			await delay(outputGraceMilliseconds);
			communicator.abort(code);
			return code;
		},
	};
}

/** The name of the command below `trajgpt`. */
function topLevel(command: Command): string {
	let verb = command;
	while (verb.parent?.parent) verb = verb.parent;
	return verb.name();
}
