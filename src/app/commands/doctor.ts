import { execFile } from "node:child_process";
import { statfs } from "node:fs/promises";
import { availableParallelism, cpus, totalmem } from "node:os";
import { promisify } from "node:util";
import type { Communicator } from "../../base/communicator.js";
import { ownPackage } from "../../base/files/versions.js";
import { loadMpi } from "../../engine/mpi/index.js";
import {
	findPlugins,
	installCommand,
	isUnsafePassOff,
	openDevices,
} from "../../engine/runtime/pjrt/index.js";
import { gradients, input, matmul, parameter, sum } from "../../engine/tensor/index.js";
import { defineCommand } from "./define-command.js";
import { flag } from "./fields.js";
import { communicatorOf, Exit, printJson } from "./io.js";

export const command = defineCommand({
	name: "doctor",
	description:
		"Check whether this machine can run trajgpt: versions, accelerators, MPI, threads,\n" +
		"memory, disk, and which optional programs are missing and how to install them.\n" +
		"Exits with 1 if a requirement is not met.",
	options: { json: flag("print one JSON document") },
	examples: {
		"trajgpt doctor": "a table",
		"trajgpt doctor --json": "the same as JSON; sizes in bytes",
		"mpirun -n 2 trajgpt doctor": "whether the processes of a job reach each other",
	},
	async run(io, { json }) {
		const report = await examine(process.cwd(), communicatorOf(io));
		if (json) printJson(io, report);
		else io.stdout.write(render(report));
		if (!report.ok) throw new Exit(1);
	},
});

async function checkAccelerator() {
	const { plugins, searched } = findPlugins();
	const [first] = plugins;
	const unusable = {
		plugin: first?.path ?? null,
		pjrtVersion: null,
		devices: [],
		/** `XLA_FLAGS` as the plugin gets them, if it can be used. */
		xlaFlags: null,
		searched,
	};
	if (!first) return { ...unusable, problem: null };
	try {
		const client = await openDevices();
		try {
			const { native } = client;
			const devices = client.devices.map((device) => ({
				kind: device.kind,
				usableBytes: client.memory(device)?.limit ?? null,
			}));
			const { path: plugin, version: pjrtVersion } = native;
			const { XLA_FLAGS: xlaFlags = "" } = process.env;
			return { plugin, pjrtVersion, devices, xlaFlags, searched, problem: null };
		} finally {
			await client.destroy();
		}
	} catch (error) {
		return { ...unusable, problem: messageOf(error) };
	}
}

async function checkEngine() {
	let onnxruntimeVersion: string | null = null;
	try {
		const { env } = await import("../../engine/runtime/onnxruntime-node.js");
		onnxruntimeVersion = env.versions.node ?? env.versions.common;
		await runProduct();
		const detail = "a product and its gradient were run on the cpu";
		return { onnxruntimeVersion, works: true, detail };
	} catch (error) {
		return { onnxruntimeVersion, works: false, detail: messageOf(error) };
	}
}

async function runProduct(): Promise<void> {
	const { nodeRuntime } = await import("../../engine/runtime/node.js");
	const x = input("x", [2, 2]);
	const w = parameter("w", [2, 2]);
	const product = matmul(x, w);
	const [gradient] = gradients(sum(product), [w]);
	if (!gradient) throw new Error("a product has no gradient");
	const program = await nodeRuntime({ threads: 1 }).compile({ outputs: { product, gradient } });
	try {
		const feeds = { x: Float32Array.of(1, 2, 3, 4), w: Float32Array.of(5, 6, 7, 8) };
		const outputs = await program.run(feeds);
		for (const [name, expected] of [
			["product", [19, 22, 43, 50]],
			["gradient", [4, 4, 6, 6]],
		] as const) {
			const values = `${Array.from(outputs[name] ?? [])}`;
			if (values !== `${expected}`) throw new Error(`a ${name} is ${values}; expected ${expected}`);
		}
	} finally {
		await program.dispose();
	}
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

async function checkMachine(folder: string) {
	const disk = await statfs(folder);
	const processors = cpus();
	const nodeNeeded = ownPackage.engines.node;
	return {
		trajgptVersion: ownPackage.version,
		nodeVersion: process.versions.node,
		nodeNeeded,
		nodeIsRecentEnough: atLeast(process.versions.node, nodeNeeded.replace(">=", "")),
		platform: `${process.platform} ${process.arch}`,
		processor: processors[0]?.model ?? null,
		cores: processors.length,
		/** The default: the cores available to this process. */
		threads: availableParallelism(),
		// A container may have a lower limit.
		memoryTotalBytes: Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY),
		memoryFreeBytes: process.availableMemory(),
		folder,
		diskFreeBytes: disk.bavail * disk.bsize,
	};
}

export function atLeast(version: string, needed: string): boolean {
	const have = version.split(".").map(Number);
	const want = needed.split(".").map(Number);
	for (const [i, part] of want.entries()) {
		const installed = have[i] ?? 0;
		if (installed !== part) return installed > part;
	}
	return true;
}

/** The libraries that can be loaded or, in a job, the one that connects it; and the processes of the job. */
async function checkMpi({ label, size, localSize }: Communicator) {
	const job = { processes: size, local: localSize };
	// The symbols of two libraries would be mixed up.
	if (size > 1) return { libraries: [label], ...job };
	const libraries = new Set<string>();
	for (const name of ["Open MPI", "MPICH"] as const) {
		const library = await loadMpi([name], process.env, false);
		if (library) libraries.add(`${library.version} (${library.path})`);
	}
	return { libraries: [...libraries], ...job };
}

/** Optional programs; none is needed to train or to forecast. */
async function findOptional() {
	const torch = await findTorch();
	const slow = torch ? "many times slower than with OpenBLAS; " : "";
	const packages = torch ? "libopenblas0-pthread" : "python3-torch libopenblas0-pthread";
	const pyTorch = {
		name: "PyTorch",
		found: torch?.version ?? null,
		detail: torch ? `${torch.python} with ${torch.blas ?? "the reference BLAS"}` : null,
		purpose: "the peer of the benchmarks, which run in a clone",
		/** What to do if it is missing or slow. */
		advice: torch?.blas ? null : `${slow}on Debian: apt-get install ${packages}`,
	};
	return [pyTorch];
}

async function examine(folder: string, communicator: Communicator) {
	const [machine, engine, accelerator, mpi, optional] = await Promise.all([
		checkMachine(folder),
		checkEngine(),
		checkAccelerator(),
		checkMpi(communicator),
		findOptional(),
	]);
	const ok = machine.nodeIsRecentEnough && engine.works;
	return { ok, machine, engine, accelerator, mpi, optional };
}

type Report = Awaited<ReturnType<typeof examine>>;

/** A line of the table: what was checked, what was found, and a note. */
type Row = readonly [mark: "ok" | "!!" | "--" | "", name: string, value: string, note: string];

const markOf = (isGood: boolean) => (isGood ? "ok" : "!!");

export function render(report: Report): string {
	const { ok, machine, engine, accelerator, mpi, optional } = report;
	const { nodeIsRecentEnough: isRecent, nodeNeeded, memoryFreeBytes, threads } = machine;
	const needed = isRecent ? "" : `${nodeNeeded} is needed; install a newer Node`;
	const remedy = engine.works ? "" : "; install the dependencies again: npm ci";
	const version = engine.onnxruntimeVersion ?? "does not load";
	const memory = gibibytes(machine.memoryTotalBytes);
	const disk = `${gibibytes(machine.diskFreeBytes)} free`;
	const sections: Readonly<Record<string, readonly Row[]>> = {
		[`trajgpt ${machine.trajgptVersion}`]: [
			[markOf(isRecent), "Node", machine.nodeVersion, needed],
			[markOf(engine.works), "ONNX Runtime", version, engine.detail + remedy],
		],
		"This machine": [
			["", "Platform", machine.platform, machine.processor ?? ""],
			["", "Cores", `${machine.cores}`, `${threads} threads used by default`],
			["", "Memory", memory, `${gibibytes(memoryFreeBytes)} free`],
			["", "Disk", disk, `in ${machine.folder}`],
		],
		"Accelerator, for --provider xla": acceleratorRows(accelerator),
		"MPI, for several processes": mpiRows(mpi),
		Optional: optional.map(({ name, found, detail, purpose, advice }) => [
			found === null ? "--" : markOf(advice === null),
			name,
			found ?? "not found",
			[purpose, detail, advice].filter((part) => part !== null).join("; "),
		]),
	};
	const rows = Object.values(sections).flat();
	const nameWidth = Math.max(...rows.map(([, name]) => name.length));
	const valueWidth = Math.max(...rows.map(([, , value]) => value.length));
	const line = ([mark, name, value, note]: Row) =>
		`${mark.padStart(4)}  ${name.padEnd(nameWidth)}  ${value.padEnd(valueWidth)}  ${note}`.trimEnd();
	return [
		...Object.entries(sections).flatMap(([title, rows]) => [title, ...rows.map(line), ""]),
		ok ? "Ready." : "Not ready: see the lines marked !!.",
		"",
	].join("\n");
}

function acceleratorRows(accelerator: Report["accelerator"]): Row[] {
	const { plugin, pjrtVersion, devices, xlaFlags, searched, problem } = accelerator;
	const name = "PJRT plugin";
	const places: Row = ["", "Searched", `${searched.length} places`, searched.join(", ")];
	if (plugin === null)
		return [["--", name, "not found", `for an NVIDIA GPU: ${installCommand}`], places];
	if (problem !== null) return [["!!", name, "cannot be used", problem], places];
	// XLA's fused norms can be wrong, and the user may have left them on.
	const isOff = isUnsafePassOff(xlaFlags ?? "");
	const flags = `XLA_FLAGS is ${xlaFlags || "empty"}`;
	return [
		["ok", name, pjrtVersion ?? "", plugin],
		...devices.map(({ kind, usableBytes }): Row => {
			return ["ok", "Device", kind, usableBytes === null ? "" : `${gibibytes(usableBytes)} usable`];
		}),
		isOff
			? ["ok", "Fused norms", "off", flags]
			: ["!!", "Fused norms", "on", `can be wrong, see docs/gpu.md; ${flags}`],
	];
}

function mpiRows({ libraries, processes, local }: Report["mpi"]): Row[] {
	const advice = "on Debian: apt-get install openmpi-bin; on a cluster: load its module";
	if (libraries.length === 0) return [["--", "Library", "not found", advice]];
	const rows = libraries.map((value): Row => ["ok", "Library", value, ""]);
	const job: Row = ["ok", "Job", `${processes} processes`, `${local} of them on this machine`];
	return processes > 1 ? [...rows, job] : rows;
}

const gibibytes = (bytes: number) => `${(bytes / 2 ** 30).toFixed(1)} GiB`;

// Debian puts python3-torch under /usr/bin/python3, which another python3 may hide.
const interpreters = ["python3", "/usr/bin/python3"];

// A first product loads the BLAS library, which then appears in the process's memory map (Linux).
const probe = `
import json, re, torch
torch.ones(8, 8) @ torch.ones(8, 8)
try:
    loaded = open("/proc/self/maps").read()
except OSError:
    loaded = ""
loaded += torch.__config__.show()
found = re.search("mkl_(?:core|rt)|openblas|accelerate|blis|armpl|atlas", loaded, re.I)
blas = "mkl" if torch.backends.mkl.is_available() else found.group(0).lower() if found else None
print(json.dumps({"version": torch.__version__, "blas": blas}))
`;

/**
 * The first Python that has PyTorch, with its BLAS (undefined for the reference BLAS, which is many times slower), or
 * undefined. Takes seconds: PyTorch loads slowly.
 */
export async function findTorch() {
	for (const python of interpreters) {
		const run = promisify(execFile)(python, ["-c", probe], { timeout: 60_000 });
		const printed = await run.catch(() => undefined);
		if (printed === undefined) continue;
		const { version, blas }: { version: string; blas: string | null } = JSON.parse(printed.stdout);
		return { python, version, blas: blas ?? undefined };
	}
	return undefined;
}
