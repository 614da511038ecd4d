import type { Engine } from "./engine.js";
import type { Machine } from "./machine.js";
import type { Optional } from "./optional.js";

export interface Report {
	readonly ok: boolean;
	readonly machine: Machine;
	readonly engine: Engine;
	readonly optional: readonly Optional[];
}

interface Row {
	readonly mark: "ok" | "!!" | "--" | "";
	readonly name: string;
	readonly value: string;
	readonly note?: string;
}

export function render({ ok, machine, engine, optional }: Report): string {
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
		{ mark: "", name: "Providers", value: engine.providers.join(", ") || "none" },
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
	const extras = optional.map(
		({ name, found, detail, purpose, advice }): Row => ({
			mark: found === null ? "--" : advice === null ? "ok" : "!!",
			name,
			value: found ?? "not found",
			note: [purpose, detail, advice].filter((part) => part !== null).join("; "),
		}),
	);
	const rows = [...required, ...facts, ...extras];
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
		"Optional",
		...extras.map(line),
		"",
		ok ? "Ready." : "Not ready: see the lines marked !!.",
		"",
	].join("\n");
}

function gibibytes(bytes: number): string {
	return `${(bytes / 2 ** 30).toFixed(1)} GiB`;
}
