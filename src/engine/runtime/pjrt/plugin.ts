import { existsSync, readdirSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { basename, delimiter, dirname, join } from "node:path";
import { isMainThread } from "node:worker_threads";
import { InputError } from "../../../base/errors.js";
import { type Client, type ClientOptions, openClient } from "./client.js";
import { loadPlugin, PjrtError } from "./native.js";

/** The command that installs a plugin for NVIDIA GPUs. */
export const installCommand = 'pip install "jax[cuda13]"';

const variable = "TRAJGPT_PJRT_PLUGIN";
/** JAX's own: `name:path`, separated by commas. */
const jaxVariable = "PJRT_NAMES_AND_LIBRARY_PATHS";

/**
 * Looks for PJRT plugins, the best first: those that variables name, then those of Python packages. A variable that
 * names one ends the search, whether the file exists or not. Also tells which variables and folders were searched.
 */
export function findPlugins(env: NodeJS.ProcessEnv = process.env) {
	const named = [
		...(env[variable] ? [{ path: env[variable], from: variable }] : []),
		...(env[jaxVariable] ?? "").split(",").flatMap((entry) => {
			const path = entry.slice(entry.indexOf(":") + 1);
			return entry.includes(":") && path ? [{ path, from: jaxVariable }] : [];
		}),
	];
	const variables = [variable, jaxVariable].filter((name) => env[name]);
	if (named.length > 0)
		return { plugins: named.map(({ path, from }) => pluginAt(path, from)), searched: variables };
	const folders = packageFolders(env);
	return {
		plugins: folders.flatMap((folder) => pluginsIn(folder).map((path) => pluginAt(path, folder))),
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
		join(home, ".local"),
		"/usr/local",
		"/usr",
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
function pluginAt(path: string, from = "plugin") {
	const isCuda = /^xla_cuda\d*$/.test(basename(dirname(path)));
	const nvidia = join(dirname(dirname(dirname(path))), "nvidia");
	const libraries = (isCuda ? entries(nvidia) : []).flatMap((name) => {
		const folder = join(nvidia, name, "lib");
		return entries(folder)
			.filter((file) => cudaLibrary.test(file))
			.map((file) => join(folder, file));
	});
	return { path, from, libraries };
}

/** XLA's pass that fuses norms and softmaxes. Programs compiled with it can be wrong: see docs/gpu.md. */
const unsafePass = "triton-softmax-rewriter";

const added = `--xla_disable_hlo_passes=${unsafePass}`;

/** The user leaves the pass on with an empty list. With the second flag, XLA refuses a list of disabled passes. */
const choosesPasses = /--xla_disable_hlo_passes=(\s|$)|--xla_enable_hlo_passes_only/;

/**
 * `XLA_FLAGS` with the unsafe pass switched off, unless the user chooses the passes or names a file of flags. The
 * flag comes first, because XLA stops reading at the first mistake.
 */
export function withoutUnsafePass(flags = ""): string {
	const trimmed = flags.trim();
	const isFile = trimmed !== "" && !trimmed.startsWith("-");
	if (isFile || choosesPasses.test(trimmed) || trimmed.includes(unsafePass)) return flags;
	return `${added} ${trimmed}`.trim();
}

/** `XLA_FLAGS` as the user set them, for other programs. */
export const userFlags = (flags = ""): string => flags.replace(added, "").trim();

/** Whether `XLA_FLAGS` switch the unsafe pass off; those in a file are not read. */
export const isUnsafePassOff = (flags = ""): boolean => flags.includes(unsafePass);

export interface OpenOptions extends ClientOptions {
	/** The file of a plugin. Default: the first that is found and has a device. */
	readonly plugin?: string;
}

/** Opens the devices of a plugin; rejects with an `InputError` that says what to do. */
export async function openDevices(options: OpenOptions = {}): Promise<Client> {
	const plugins = options.plugin === undefined ? findPlugins().plugins : [pluginAt(options.plugin)];
	const problems: unknown[] = [];
	for (const plugin of plugins)
		try {
			return await devicesOf(plugin, options);
		} catch (error) {
			problems.push(error);
		}
	if (problems.length > 0) throw problems[0];
	throw new InputError(
		`no PJRT plugin was found, through which XLA uses an accelerator; install the one for NVIDIA GPUs with ${installCommand}, name the file of another in TRAJGPT_PJRT_PLUGIN (\`trajgpt doctor\` lists the places searched), or leave out \`provider\` to compute on the CPU`,
	);
}

async function devicesOf(
	plugin: ReturnType<typeof pluginAt>,
	options: ClientOptions,
): Promise<Client> {
	const remedy = "check its driver (nvidia-smi), or leave out `provider` to compute on the CPU";
	setFlags();
	const client = await loadPlugin(plugin.path, plugin.libraries)
		.then((native) => openClient(native, options))
		.catch((error) => {
			if (!(error instanceof PjrtError)) throw error;
			const [reason = ""] = error.message.split("\n");
			throw new InputError(`${plugin.path} cannot use a device: ${reason}; ${remedy}`, {
				cause: error,
			});
		});
	if (client.devices.length > 0) return client;
	await client.destroy();
	throw new InputError(`${plugin.path} finds no device; ${remedy}`);
}

/** Sets the flags of XLA, which it reads from the environment once per process: before the plugin is loaded. */
function setFlags(): void {
	const flags = withoutUnsafePass(process.env.XLA_FLAGS);
	if (flags === process.env.XLA_FLAGS) return;
	// A worker's `process.env` is a copy that native code does not see.
	if (!isMainThread)
		throw new InputError(
			`a worker thread cannot set XLA_FLAGS; open the accelerator in the main thread first, or start the program with XLA_FLAGS='${flags}'`,
		);
	process.env.XLA_FLAGS = flags;
}
