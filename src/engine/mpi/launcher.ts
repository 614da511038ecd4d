import { readdirSync } from "node:fs";
import type { Communicator } from "../../base/communicator.js";
import { InputError } from "../../base/errors.js";

export type Implementation = "Open MPI" | "MPICH";

/** What started this process as one of several. */
export interface Launch {
	readonly launcher: string;
	readonly size: number;
	readonly rank: number;
	/** The implementations whose processes it connects, the likeliest first; none if it connects them with none. */
	readonly implementations: readonly Implementation[];
}

export type Env = Readonly<Record<string, string | undefined>>;

/** The variable that names the library, or turns MPI off. */
export const libraryVariable = "TRAJGPT_MPI_LIBRARY";

/**
 * How this process was launched, from the variables that launchers set; undefined for a process on its own. Reads
 * nothing else, so that without a launcher nothing of MPI is loaded.
 */
export function launchOf(env: Env): Launch | undefined {
	if (env[libraryVariable] === "none") return undefined;
	const launch = named(env);
	return launch && launch.size > 1 ? launch : undefined;
}

function named(env: Env): Launch | undefined {
	const count = (name: string) => (env[name] === undefined ? undefined : Number(env[name]));
	const [ompi, pmi] = [count("OMPI_COMM_WORLD_SIZE"), count("PMI_SIZE")];
	// A batch script has SLURM_NTASKS too: only tasks of a step have a rank there.
	const tasks = count("SLURM_STEP_NUM_TASKS") ?? count("SLURM_NTASKS");
	const launch = (
		launcher: string,
		size: number,
		rank: string,
		...implementations: readonly Implementation[]
	): Launch => ({ launcher, size, rank: count(rank) ?? 0, implementations });
	const isSlurm = env.SLURM_PROCID !== undefined;
	if (ompi !== undefined)
		return launch("mpirun of Open MPI", ompi, "OMPI_COMM_WORLD_RANK", "Open MPI");
	if (pmi !== undefined)
		return launch(isSlurm ? "srun" : "mpirun of MPICH", pmi, "PMI_RANK", "MPICH", "Open MPI");
	if (env.PMIX_RANK !== undefined && tasks !== undefined)
		return launch("srun", tasks, "PMIX_RANK", "Open MPI", "MPICH");
	const steps = count("SLURM_STEP_NUM_TASKS");
	if (isSlurm && steps !== undefined) return launch("srun", steps, "SLURM_PROCID");
	return undefined;
}

export const noLibrary = ({ launcher, size }: Launch, problem: string, remedy: string) =>
	new InputError(
		`${launcher} started ${size} processes, but ${problem}; ${remedy}, or set ${libraryVariable}=none to let each process work on its own`,
	);

const variable = "CUDA_VISIBLE_DEVICES";

/**
 * Shows a process the NVIDIA GPU of its local rank alone. To be called before a plugin is loaded, which reads the
 * variable once, and would take memory on every GPU that it sees.
 */
export function chooseGpu(
	{ localRank, localSize }: Pick<Communicator, "localRank" | "localSize">,
	env: Record<string, string | undefined>,
	installed: readonly string[] = installedGpus(),
): void {
	if (localSize === 1) return;
	const visible = env[variable]?.split(",").filter((name) => name !== "") ?? installed;
	if (visible.length > 1) env[variable] = visible[localRank % visible.length];
}

function installedGpus(): string[] {
	try {
		const names = readdirSync("/dev").filter((name) => /^nvidia\d+$/.test(name));
		return names.map((name) => name.slice("nvidia".length)).sort((a, b) => Number(a) - Number(b));
	} catch {
		return [];
	}
}
