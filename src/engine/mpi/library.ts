import { existsSync, realpathSync } from "node:fs";
import { basename, delimiter, dirname, join } from "node:path";
import type { KoffiFunc, LibraryHandle } from "koffi";
import { type Koffi, loadKoffi } from "../runtime/load-koffi.js";
import { type Env, type Implementation, libraryVariable } from "./launcher.js";

/** Names of the shared library; MPICH's own builds, Intel MPI, MVAPICH and Cray MPICH have the same handles. */
const files: Readonly<Record<Implementation, readonly string[]>> =
	process.platform === "darwin"
		? {
				"Open MPI": ["libmpi.40.dylib", "libmpi.dylib"],
				MPICH: ["libmpich.12.dylib", "libmpi.12.dylib", "libmpi_abi.0.dylib"],
			}
		: {
				"Open MPI": ["libmpi.so.40", "libmpi.so", "libmpi_abi.so.0"],
				MPICH: ["libmpich.so.12", "libmpi.so.12", "libmpi_cray.so.12", "libmpi_abi.so.0"],
			};

/** Files to try, in order: by name where the system looks, then beside the `mpirun` of PATH. */
function candidates(implementation: Implementation, env: Env): string[] {
	const mpirun = (env.PATH ?? "")
		.split(delimiter)
		.map((folder) => join(folder, "mpirun"))
		.find((file) => existsSync(file));
	const prefix = mpirun && dirname(dirname(realpathSync(mpirun)));
	const beside = prefix ? [join(prefix, "lib"), join(prefix, "lib64")] : [];
	const names = files[implementation];
	return [...names, ...beside.flatMap((folder) => names.map((name) => join(folder, name)))];
}

/** The first library of the implementations that can be loaded, or the one that the variable names. */
export async function loadMpi(
	implementations: readonly Implementation[],
	env: Env,
	/** Whether its symbols are seen by all of the process, as plugins of the library need it. */
	global = true,
): Promise<MpiLibrary | undefined> {
	const given = env[libraryVariable];
	const all = given ? [given] : implementations.flatMap((each) => candidates(each, env));
	const koffi = await loadKoffi();
	// With the hooks of UCX on memory functions, one of a hundred jobs of MPICH crashes in V8's garbage collector.
	process.env.UCX_MEM_EVENTS ??= "no";
	for (const path of all) {
		try {
			const library = opened(koffi, koffi.load(path, { global, lazy: true }), path);
			// `libmpi.so` may be of either.
			const { implementation } = library;
			if (given || implementation === "MPI ABI" || implementations.includes(implementation))
				return library;
		} catch {
			// The next one, or none.
		}
	}
	return undefined;
}

/** A loaded library. Its functions return 0, or a number that stands for an error. */
export type MpiLibrary = ReturnType<typeof opened>;

function opened(koffi: Koffi, handle: LibraryHandle, path: string) {
	/** As the library says: "Open MPI v4.1.4". */
	const version = versionOf(handle);
	const kind: Implementation = version.startsWith("Open MPI") ? "Open MPI" : "MPICH";
	const handles: Record<
		Implementation | "MPI ABI",
		() => Record<"world" | "byte", bigint | number>
	> = {
		"Open MPI": () => ({
			world: koffi.address(handle.symbol("ompi_mpi_comm_world")),
			byte: koffi.address(handle.symbol("ompi_mpi_byte")),
		}),
		MPICH: () => ({ world: 0x44000000, byte: 0x4c00010d }),
		"MPI ABI": () => ({ world: 0x101n, byte: 0x247n }),
	};
	const implementation: keyof typeof handles = basename(path).startsWith("libmpi_abi")
		? "MPI ABI"
		: kind;
	const types = {
		int: "int",
		pointer: "void *",
		"int out": koffi.out("int *"),
		handle: implementation === "MPICH" ? "int" : "void *",
	};
	return {
		path,
		version,
		implementation,
		...handles[implementation](),
		function: (name: string, parameters: readonly (keyof typeof types)[]) =>
			handle.func(
				name,
				"int",
				parameters.map((parameter) => types[parameter]),
			) as KoffiFunc<(...values: unknown[]) => number>,
	};
}

/** The first line of what the library says of itself, which it may be asked before it is initialized. */
function versionOf(handle: LibraryHandle): string {
	const text = Buffer.alloc(8192);
	const length = [0];
	handle.func("int MPI_Get_library_version(void *text, _Out_ int *length)")(text, length);
	const [first = ""] = text.toString("utf8", 0, length[0]).split("\n");
	return first
		.split(",")[0]
		.replace("MPICH Version:", "MPICH")
		.replace(/\s+/g, " ")
		.replaceAll("\0", "")
		.trim();
}
