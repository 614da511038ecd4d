import { existsSync, readdirSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { basename, delimiter, dirname, join } from "node:path";

/** A plugin that may be used, and where it came from. */
export interface FoundPlugin {
	readonly path: string;
	/** A variable or a folder. */
	readonly from: string;
	/** Libraries of the same installation that it needs. */
	readonly libraries: readonly string[];
}

export interface PluginSearch {
	/** The best first. */
	readonly found: readonly FoundPlugin[];
	/** The variables and folders looked at, in order. */
	readonly searched: readonly string[];
}

/** The command that installs a plugin for NVIDIA GPUs. */
export const installCommand = 'pip install "jax[cuda13]"';

const variable = "TRAJGPT_PJRT_PLUGIN";
/** JAX's own: `name:path`, separated by commas. */
const jaxVariable = "PJRT_NAMES_AND_LIBRARY_PATHS";

/**
 * Looks for PJRT plugins: those that variables name, then those of Python packages. A variable that names one ends
 * the search, whether the file exists or not.
 */
export function findPlugins(env: NodeJS.ProcessEnv = process.env): PluginSearch {
	const named = [
		...(env[variable] ? [{ path: env[variable], from: variable }] : []),
		...(env[jaxVariable] ?? "").split(",").flatMap((entry) => {
			const path = entry.slice(entry.indexOf(":") + 1);
			return entry.includes(":") && path ? [{ path, from: jaxVariable }] : [];
		}),
	];
	const variables = [variable, jaxVariable].filter((name) => env[name]);
	if (named.length > 0)
		return { found: named.map(({ path, from }) => pluginAt(path, from)), searched: variables };
	const folders = packageFolders(env);
	return {
		found: folders.flatMap((folder) => pluginsIn(folder).map((path) => pluginAt(path, folder))),
		searched: [variable, jaxVariable, ...folders],
	};
}

const entries = (folder: string): string[] => {
	try {
		return readdirSync(folder).sort();
	} catch {
		return [];
	}
};

/** The folders of Python's packages, those of the active environment first. */
function packageFolders(env: NodeJS.ProcessEnv): string[] {
	const home = env.HOME || homedir();
	const prefixes = [
		...[env.VIRTUAL_ENV, env.CONDA_PREFIX].filter((prefix) => prefix !== undefined),
		...pythonPrefixes(env.PATH ?? ""),
		...[join(home, ".local"), "/usr/local", "/usr"],
		...["/opt", join(home, ".pyenv", "versions")].flatMap((folder) =>
			entries(folder).map((name) => join(folder, name)),
		),
	];
	const folders = prefixes.flatMap((prefix) => {
		const versions = entries(join(prefix, "lib")).filter((name) => /^python3(\.\d+)?$/.test(name));
		return versions
			.reverse()
			.flatMap((version) =>
				["site-packages", "dist-packages"].map((name) => join(prefix, "lib", version, name)),
			);
	});
	return [...new Set(folders)].filter((folder) => existsSync(folder));
}

/** Where the `python3` of PATH is installed: as it is named there, and where links lead to. */
function pythonPrefixes(path: string): string[] {
	const python = path
		.split(delimiter)
		.map((folder) => join(folder, "python3"))
		.find((file) => existsSync(file));
	if (python === undefined) return [];
	return [python, realpathSync(python)].map((file) => dirname(dirname(file)));
}

/** Newer versions of CUDA before older ones, then ROCm, then TPUs. */
function pluginsIn(folder: string): string[] {
	const packages = join(folder, "jax_plugins");
	const of = (vendor: string) =>
		entries(packages)
			.filter((name) => name.startsWith(`xla_${vendor}`))
			.sort((a, b) => b.localeCompare(a, "en", { numeric: true }))
			.map((name) => join(packages, name, `xla_${vendor}_plugin.so`));
	const candidates = [...of("cuda"), ...of("rocm"), join(folder, "libtpu", "libtpu.so")];
	return candidates.filter((file) => existsSync(file));
}

/** What XLA opens by name at run time; not all that lies beside it is harmless to load. */
const cudaLibrary =
	/^lib(cudart|cublas|cublasLt|cudnn\w*|cufft|cupti|cusolver|cusparse|nccl|nvJitLink|nvrtc|nvshmem_host)\.so\.\d+$/;

/** A plugin with the packages of NVIDIA's libraries, which lie beside it, where the system does not look. */
export function pluginAt(path: string, from = "plugin"): FoundPlugin {
	if (!/^xla_cuda\d*$/.test(basename(dirname(path)))) return { path, from, libraries: [] };
	const nvidia = join(dirname(dirname(dirname(path))), "nvidia");
	const libraries = entries(nvidia).flatMap((name) => {
		const folder = join(nvidia, name, "lib");
		return entries(folder)
			.filter((file) => cudaLibrary.test(file))
			.map((file) => join(folder, file));
	});
	return { path, from, libraries };
}
