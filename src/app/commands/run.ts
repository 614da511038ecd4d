import { setTimeout as delay } from "node:timers/promises";
import { Command, CommanderError } from "commander";
import { oneProcess } from "../../base/communicator.js";
import { InputError } from "../../base/errors.js";
import { ownPackage } from "../../base/files/versions.js";
import { chooseGpu, launchOf, openCommunicator } from "../../engine/mpi/index.js";
import { type Provider, providers } from "../../engine/runtime/index.js";
import type { Precision } from "../../engine/tensor/index.js";
import { type Program, trajgpt } from "./commands.js";
import { examples, withFlags } from "./define-command.js";
import { Exit, type Io, safeIo } from "./io.js";

/** Runs one command line and returns its exit code: 0 done, 1 failed, 2 bad usage or bad input. */
export async function run(argv: readonly string[], given: Io, program = trajgpt): Promise<number> {
	let acting: Command | undefined;
	const job = jobOf(given, program);
	const reworded = (text: string) => withFlags(text, acting);
	const io = {
		...safeIo(job.io, reworded),
		get communicator() {
			return job.communicator;
		},
	};
	try {
		const command = await commandOf(program, argv, io, async (command) => {
			acting = command;
			await job.join(command);
		});
		await command.parseAsync(argv, { from: "user" });
		job.leave();
		return 0;
	} catch (error) {
		return job.fail(error, (to) => exitCode(error, safeIo(to, reworded)));
	}
}

async function commandOf(
	program: Program,
	argv: readonly string[],
	io: Io,
	onAction: (command: Command) => Promise<void>,
): Promise<Command> {
	const root = new Command(program.name)
		.description(program.description)
		.version(ownPackage.version)
		.addHelpText("after", examples(program.examples));
	for (const { name, summary, hidden = false, load } of program.commands) {
		const command = argv.includes(name) ? (await load()).command(io) : new Command(name);
		root.addCommand(command.summary(summary), { hidden });
	}
	root.hook("preAction", async (_, command) => {
		await onAction(command);
		await settleProvider(command);
	});
	settle(root, io);
	return root;
}

/** Replaces `auto` by what it stands for here, and rejects a provider that cannot be used. */
async function settleProvider(command: Command): Promise<void> {
	const { provider, precision, resume } = command.opts<ProviderOptions>();
	if (provider === undefined || (provider === "cpu" && precision === undefined)) return;
	const checks = await import("../../engine/runtime/open-runtime.js");
	const settled = provider === "auto" ? await checks.automaticProvider() : provider;
	// An engine of the benchmarks that is none of Node's.
	if (!providers.includes(settled)) return;
	const isTyped = command.getOptionValueSource("provider") === "cli";
	command.setOptionValueWithSource("provider", settled, isTyped ? "cli" : "default");
	// A resumed run has a provider of its own, unless another is named.
	if (resume && !isTyped) return;
	await checks.checkProvider(settled, precision);
}

interface ProviderOptions {
	readonly provider?: Provider | "auto";
	readonly precision?: Precision;
	readonly resume?: true;
}

/**
 * Keeps Commander from writing to the process's streams and from ending it, and lets it wrap descriptions to the width
 * of the terminal; in subcommands too.
 */
function settle(command: Command, io: Io): void {
	command.configureHelp({ commandDescription: (verb) => inParagraphs(verb.description()) });
	command.exitOverride().configureOutput({
		writeOut: (text) => io.stdout.write(text),
		writeErr: (text) => io.stderr.write(text),
		getOutHelpWidth: () => io.stdout.columns ?? 100,
		getErrHelpWidth: () => io.stderr.columns ?? 100,
		getOutHasColors: () => false,
		getErrHasColors: () => false,
	});
	for (const child of command.commands) settle(child, io);
}

/** Each paragraph on a line of its own, for Commander to wrap; indented lines and definitions ("TIME is …") begin new ones. */
const inParagraphs = (text: string) => text.replace(/(?<=\S)\n(?![\n\s]|[A-Z]+ is )/g, " ");

function exitCode(error: unknown, io: Io): number {
	if (error instanceof Exit) return error.code;
	if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
	const message = error instanceof Error ? error.message : String(error);
	io.stderr.write(`error: ${message}\n`);
	if (error instanceof InputError) return 2;
	if (io.env.TRAJGPT_DEBUG && error instanceof Error) io.stderr.write(`${error.stack}\n`);
	else
		io.stderr.write(
			"set TRAJGPT_DEBUG=1 to see the stack trace; `trajgpt doctor` checks this machine\n",
		);
	return 1;
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

/**
 * The processes that `mpirun` or `srun` started, as a command sees them: `io` has the streams of this process (ranks
 * other than 0 say nothing), `join` connects it with the others before a command acts, and `fail` reports an error,
 * ends all processes and returns the exit code.
 */
function jobOf(io: Io, program: Program) {
	const launch = launchOf(io.env);
	const { rank = 0, size = 1 } = launch ?? {};
	let communicator = oneProcess;
	let begun = false;
	return {
		io: rank === 0 ? io : silent(io),
		get communicator() {
			return communicator;
		},
		async join(command: Command): Promise<void> {
			if (!launch) return;
			let verb = command;
			while (verb.parent?.parent) verb = verb.parent;
			const name = verb.name();
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
		async fail(error: unknown, report: (io: Io) => number): Promise<number> {
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
