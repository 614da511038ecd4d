import { execFile } from "node:child_process";
import { statfs } from "node:fs/promises";
import { availableParallelism, cpus, totalmem } from "node:os";
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

export interface Accelerator {
	/** The file of the plugin that is used, or the first that was found. */
	readonly plugin: string | null;
	/** The version of the PJRT API, if the plugin can be used. */
	readonly pjrtVersion: string | null;
	readonly devices: readonly { readonly kind: string; readonly usableBytes: number | null }[];
	/** `XLA_FLAGS` as the plugin gets them, if it can be used. */
	readonly xlaFlags: string | null;
	/** Variables and folders that were searched, in order. */
	readonly searched: readonly string[];
	/** Why the plugin cannot be used. */
	readonly problem: string | null;
}

/** Looks for a plugin, and opens its devices. */
export async function checkAccelerator(): Promise<Accelerator> {
	const { plugins, searched } = findPlugins();
	const [first] = plugins;
	const none = { pjrtVersion: null, devices: [], xlaFlags: null, searched };
	if (!first) return { plugin: null, ...none, problem: null };
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
		const problem = error instanceof Error ? error.message : String(error);
		return { plugin: first.path, ...none, problem };
	}
}

export interface Engine {
	readonly onnxruntimeVersion: string | null;
	readonly works: boolean;
	/** What was run, or why it failed. */
	readonly detail: string;
}

/** Loads ONNX Runtime and runs a product and its gradient on the CPU. */
export async function checkEngine(): Promise<Engine> {
	let onnxruntimeVersion: string | null = null;
	try {
		const { env } = await import("../../engine/runtime/onnxruntime-node.js");
		onnxruntimeVersion = env.versions.node ?? env.versions.common;
		const detail = await trainingProduct();
		return { onnxruntimeVersion, works: true, detail };
	} catch (error) {
		const detail = error instanceof Error ? error.message : String(error);
		return { onnxruntimeVersion, works: false, detail };
	}
}

async function trainingProduct(): Promise<string> {
	const { nodeRuntime } = await import("../../engine/runtime/node.js");
	const x = input("x", [2, 2]);
	const w = parameter("w", [2, 2]);
	const y = matmul(x, w);
	const [gradient] = gradients(sum(y), [w]);
	if (!gradient) throw new Error("a product has no gradient");
	const program = await nodeRuntime({ threads: 1 }).compile({ outputs: { y, gradient } });
	try {
		const outputs = await program.run({
			x: Float32Array.of(1, 2, 3, 4),
			w: Float32Array.of(5, 6, 7, 8),
		});
		expectValues("a product", outputs.y, [19, 22, 43, 50]);
		expectValues("its gradient", outputs.gradient, [4, 4, 6, 6]);
	} finally {
		await program.dispose();
	}
	return "a product and its gradient were run on the cpu";
}

function expectValues(what: string, got: ArrayLike<number> = [], expected: readonly number[]) {
	if (expected.every((value, i) => got[i] === value)) return;
	throw new Error(`${what} is ${Array.from(got).join(", ")}; expected ${expected.join(", ")}`);
}

export interface Machine {
	readonly trajgptVersion: string;
	readonly nodeVersion: string;
	/** As in package.json: ">=20.19". */
	readonly nodeNeeded: string;
	readonly nodeIsRecentEnough: boolean;
	readonly platform: string;
	readonly processor: string | null;
	readonly cores: number;
	/** The default number of threads: the cores available to this process. */
	readonly threads: number;
	readonly memoryTotalBytes: number;
	readonly memoryFreeBytes: number;
	readonly folder: string;
	readonly diskFreeBytes: number;
}

export async function checkMachine(folder: string): Promise<Machine> {
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

export interface Mpi {
	/** Versions and files: those that can be loaded or, in a job, the one that connects it. */
	readonly libraries: readonly string[];
	/** Processes of the job. */
	readonly processes: number;
	/** Of these, on this machine. */
	readonly local: number;
}

export async function checkMpi({ label, size, localSize }: Communicator): Promise<Mpi> {
	const job = { processes: size, local: localSize };
	// The symbols of two libraries would be mixed up.
	if (size > 1) return { libraries: [label], ...job };
	const libraries = [
		await loadMpi(["Open MPI"], process.env, false),
		await loadMpi(["MPICH"], process.env, false),
	];
	const names = libraries.flatMap((library) =>
		library ? [`${library.version} (${library.path})`] : [],
	);
	return { libraries: [...new Set(names)], ...job };
}

export interface Optional {
	readonly name: string;
	/** The version found, or null. */
	readonly found: string | null;
	readonly detail: string | null;
	readonly purpose: string;
	/** What to do if it is missing or slow. */
	readonly advice: string | null;
}

/** Optional programs; none is needed to train or to forecast. */
export async function findOptional(): Promise<Optional[]> {
	const torch = await findTorch();
	const slow = torch ? "many times slower than with OpenBLAS; " : "";
	const packages = torch ? "libopenblas0-pthread" : "python3-torch libopenblas0-pthread";
	return [
		{
			name: "PyTorch",
			found: torch?.version ?? null,
			detail: torch ? `${torch.python} with ${torch.blas ?? "the reference BLAS"}` : null,
			purpose: "the peer of the benchmarks, which run in a clone",
			advice: torch?.blas ? null : `${slow}on Debian: apt-get install ${packages}`,
		},
	];
}

export async function examine(folder: string, communicator: Communicator): Promise<Report> {
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

export interface Report {
	readonly ok: boolean;
	readonly machine: Machine;
	readonly engine: Engine;
	readonly accelerator: Accelerator;
	readonly mpi: Mpi;
	readonly optional: readonly Optional[];
}

interface Row {
	readonly mark: "ok" | "!!" | "--" | "";
	readonly name: string;
	readonly value: string;
	readonly note?: string;
}

export function render({ ok, machine, engine, accelerator, mpi, optional }: Report): string {
	const required: Row[] = [
		{
			mark: machine.nodeIsRecentEnough ? "ok" : "!!",
			name: "Node",
			value: machine.nodeVersion,
			note: machine.nodeIsRecentEnough
				? ""
				: `${machine.nodeNeeded} is needed; install a newer Node`,
		},
		{
			mark: engine.works ? "ok" : "!!",
			name: "ONNX Runtime",
			value: engine.onnxruntimeVersion ?? "does not load",
			note: engine.works
				? engine.detail
				: `${engine.detail}; install the dependencies again: npm ci`,
		},
	];
	const facts: Row[] = [
		{ mark: "", name: "Platform", value: machine.platform, note: machine.processor ?? "" },
		{
			mark: "",
			name: "Cores",
			value: String(machine.cores),
			note: `${machine.threads} threads used by default`,
		},
		{
			mark: "",
			name: "Memory",
			value: gibibytes(machine.memoryTotalBytes),
			note: `${gibibytes(machine.memoryFreeBytes)} free`,
		},
		{
			mark: "",
			name: "Disk",
			value: `${gibibytes(machine.diskFreeBytes)} free`,
			note: `in ${machine.folder}`,
		},
	];
	const accelerators = acceleratorRows(accelerator);
	const processes = mpiRows(mpi);
	const extras = optional.map(
		({ name, found, detail, purpose, advice }): Row => ({
			mark: found === null ? "--" : advice === null ? "ok" : "!!",
			name,
			value: found ?? "not found",
			note: [purpose, detail, advice].filter((part) => part !== null).join("; "),
		}),
	);
	const rows = [...required, ...facts, ...accelerators, ...processes, ...extras];
	const nameWidth = Math.max(...rows.map(({ name }) => name.length));
	const valueWidth = Math.max(...rows.map(({ value }) => value.length));
	const line = ({ mark, name, value, note = "" }: Row) =>
		`${mark.padStart(4)}  ${name.padEnd(nameWidth)}  ${value.padEnd(valueWidth)}  ${note}`.trimEnd();
	return [
		`trajgpt ${machine.trajgptVersion}`,
		...required.map(line),
		"",
		"This machine",
		...facts.map(line),
		"",
		"Accelerator, for --provider xla",
		...accelerators.map(line),
		"",
		"MPI, for several processes",
		...processes.map(line),
		"",
		"Optional",
		...extras.map(line),
		"",
		ok ? "Ready." : "Not ready: see the lines marked !!.",
		"",
	].join("\n");
}

function acceleratorRows(accelerator: Accelerator): Row[] {
	const { plugin, pjrtVersion, devices, xlaFlags, searched, problem } = accelerator;
	const name = "PJRT plugin";
	const places: Row = {
		mark: "",
		name: "Searched",
		value: `${searched.length} places`,
		note: searched.join(", "),
	};
	if (plugin === null) {
		const note = `for an NVIDIA GPU: ${installCommand}`;
		return [{ mark: "--", name, value: "not found", note }, places];
	}
	if (problem !== null)
		return [{ mark: "!!", name, value: "cannot be used", note: problem }, places];
	return [
		{ mark: "ok", name, value: pjrtVersion ?? "", note: plugin },
		...devices.map(
			({ kind, usableBytes }): Row => ({
				mark: "ok",
				name: "Device",
				value: kind,
				note: usableBytes === null ? "" : `${gibibytes(usableBytes)} usable`,
			}),
		),
		flagsRow(xlaFlags ?? ""),
	];
}

/** Whether XLA's fused norms are off: they can be wrong, and the user may have left them on. */
function flagsRow(flags: string): Row {
	const isOff = isUnsafePassOff(flags);
	return {
		mark: isOff ? "ok" : "!!",
		name: "Fused norms",
		value: isOff ? "off" : "on",
		note: `${isOff ? "" : "can be wrong, see docs/gpu.md; "}XLA_FLAGS is ${flags || "empty"}`,
	};
}

function mpiRows({ libraries, processes, local }: Mpi): Row[] {
	const job: Row = {
		mark: "ok",
		name: "Job",
		value: `${processes} processes`,
		note: `${local} of them on this machine`,
	};
	if (libraries.length === 0)
		return [
			{
				mark: "--",
				name: "Library",
				value: "not found",
				note: "on Debian: apt-get install openmpi-bin; on a cluster: load its module",
			},
		];
	const rows = libraries.map((value): Row => ({ mark: "ok", name: "Library", value }));
	return processes > 1 ? [...rows, job] : rows;
}

function gibibytes(bytes: number): string {
	return `${(bytes / 2 ** 30).toFixed(1)} GiB`;
}

export interface Torch {
	/** The interpreter that has PyTorch. */
	readonly python: string;
	readonly version: string;
	/** The BLAS: "mkl", "openblas", …; undefined for the reference BLAS, which is many times slower. */
	readonly blas: string | undefined;
}

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

/** The first Python that has PyTorch, or undefined. Takes seconds: PyTorch loads slowly. */
export async function findTorch(): Promise<Torch | undefined> {
	for (const python of interpreters) {
		const printed = await outputOf(python, ["-c", probe]);
		if (printed === undefined) continue;
		const { version, blas } = JSON.parse(printed) as { version: string; blas: string | null };
		return { python, version, blas: blas ?? undefined };
	}
	return undefined;
}

/** A program's standard output, or undefined if it is missing, fails or takes over a minute. */
function outputOf(program: string, args: readonly string[]): Promise<string | undefined> {
	return new Promise((resolve) => {
		execFile(program, args, { timeout: 60_000 }, (error, stdout) => {
			resolve(error ? undefined : stdout.trim());
		});
	});
}
