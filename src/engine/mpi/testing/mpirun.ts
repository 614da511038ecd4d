import { spawn, spawnSync } from "node:child_process";
import { type Finished, finished } from "../../../base/files/testing/finished.js";

export interface Launcher {
	readonly name: "Open MPI" | "MPICH";
	readonly command: string;
	readonly options: readonly string[];
}

/** Debian names both, and makes `mpirun` one of them. */
const commands = ["mpirun.openmpi", "mpirun.mpich", "mpirun"];

function found(name: Launcher["name"], says: string, options: readonly string[]): Launcher[] {
	const command = commands.find((each) => {
		const { stdout } = spawnSync(each, ["--version"], { encoding: "utf8", env: rooted });
		return stdout?.includes(says);
	});
	return command === undefined ? [] : [{ name, command, options }];
}

/** Open MPI refuses to run as root unless it is told twice. */
const rooted = {
	...process.env,
	...{ OMPI_ALLOW_RUN_AS_ROOT: "1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: "1" },
};

/** The launchers of this machine; tests of those that are missing are skipped. */
export const launchers: readonly Launcher[] = [
	...found("Open MPI", "Open MPI", ["--oversubscribe"]),
	...found("MPICH", "HYDRA", []),
];

/** Starts so many processes of a Node program with a launcher, and waits for their end. */
export function mpirun(
	{ command, options }: Launcher,
	processes: number,
	program: readonly string[],
	env: Readonly<Record<string, string>> = {},
): Promise<Finished> {
	const child = spawn(
		command,
		[...options, "-n", String(processes), process.execPath, ...program],
		{ stdio: ["ignore", "pipe", "pipe"], env: { ...rooted, ...env } },
	);
	return finished(child);
}
