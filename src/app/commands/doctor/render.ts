import { installCommand, isUnsafePassOff } from "../../../engine/runtime/pjrt/index.js";
import type { Accelerator } from "./accelerator.js";
import type { Engine } from "./engine.js";
import type { Machine } from "./machine.js";
import type { Mpi } from "./mpi.js";
import type { Optional } from "./optional.js";

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
		...{ mark: "", name: "Searched", value: `${searched.length} places` },
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
				...{ mark: "ok", name: "Device", value: kind },
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
		...{ mark: isOff ? "ok" : "!!", name: "Fused norms", value: isOff ? "off" : "on" },
		note: `${isOff ? "" : "can be wrong, see docs/gpu.md; "}XLA_FLAGS is ${flags || "empty"}`,
	};
}

function mpiRows({ libraries, processes, local }: Mpi): Row[] {
	const job: Row = {
		...{ mark: "ok", name: "Job", value: `${processes} processes` },
		note: `${local} of them on this machine`,
	};
	if (libraries.length === 0)
		return [
			{
				...{ mark: "--", name: "Library", value: "not found" },
				note: "on Debian: apt-get install openmpi-bin; on a cluster: load its module",
			},
		];
	const rows = libraries.map((value): Row => ({ mark: "ok", name: "Library", value }));
	return processes > 1 ? [...rows, job] : rows;
}

function gibibytes(bytes: number): string {
	return `${(bytes / 2 ** 30).toFixed(1)} GiB`;
}
