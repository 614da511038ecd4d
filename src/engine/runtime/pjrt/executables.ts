import { createHash } from "node:crypto";
import { readdirSync, rmSync, statSync, utimesSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { replaceFile } from "../../../base/files/index.js";

/** Compiled programs on disk, each under the hash of all that it depends on. */
export interface ExecutableCache {
	/** The bytes that were stored; undefined if there are none, or they are damaged. */
	read(key: string): Promise<Buffer | undefined>;
	/** Stores bytes, and removes those that were used the longest ago if the folder is too large. */
	write(key: string, bytes: Uint8Array): Promise<void>;
}

const ending = ".xla";
const hashBytes = 32;
const mostBytes = 2 ** 31;

const sha256 = (...parts: readonly (string | Uint8Array)[]) => {
	const hash = createHash("sha256");
	for (const part of parts) hash.update(`${part.length}\n`).update(part);
	return hash.digest();
};

/** The name of a program that was compiled from `parts`. */
export const cacheKey = (...parts: readonly (string | Uint8Array)[]): string =>
	sha256(...parts).toString("hex");

/** `TRAJGPT_XLA_CACHE`, or the user's folder for caches. */
export function defaultCacheFolder(env: NodeJS.ProcessEnv = process.env): string {
	if (env.TRAJGPT_XLA_CACHE) return env.TRAJGPT_XLA_CACHE;
	return join(env.XDG_CACHE_HOME || join(homedir(), ".cache"), "trajgpt", "xla");
}

/** A cache in a folder. Where the folder cannot be read or written, everything is compiled. */
export function executableCache(folder: string, limit = mostBytes): ExecutableCache {
	const fileOf = (key: string) => join(folder, key + ending);
	return {
		async read(key) {
			try {
				const file = fileOf(key);
				const stored = await readFile(file);
				const bytes = stored.subarray(hashBytes);
				if (!sha256(bytes).equals(stored.subarray(0, hashBytes))) return undefined;
				const now = new Date();
				utimesSync(file, now, now);
				return bytes;
			} catch {
				return undefined;
			}
		},
		async write(key, bytes) {
			try {
				await mkdir(folder, { recursive: true, mode: 0o700 });
				await replaceFile(fileOf(key), (path) =>
					writeFile(path, Buffer.concat([sha256(bytes), bytes]), { mode: 0o600 }),
				);
				shrink(folder, limit);
			} catch {
				// The program was compiled and runs; next time it is compiled again.
			}
		},
	};
}

function shrink(folder: string, limit: number): void {
	const files = readdirSync(folder)
		.filter((name) => name.endsWith(ending))
		.map((name) => join(folder, name))
		.flatMap((path) => {
			const file = statSync(path, { throwIfNoEntry: false });
			return file ? [{ path, size: file.size, used: file.mtimeMs }] : [];
		})
		.sort((a, b) => b.used - a.used);
	let total = 0;
	for (const { path, size } of files) {
		total += size;
		if (total > limit) rmSync(path, { force: true });
	}
}

/** `CompileOptionsProto` of XLA, for a program that runs on each of the devices, given by id. */
export function compileOptions(devices: readonly number[]): Uint8Array {
	// DeviceAssignmentProto: replica_count = 1, computation_count = 2, computation_devices = 3.
	const assignment = [
		...number(1, devices.length),
		...number(2, 1),
		...message(3, message(1, devices.flatMap(varint))),
	];
	// ExecutableBuildOptionsProto: num_replicas = 4, num_partitions = 5, device_assignment = 9.
	const build = [...number(4, devices.length), ...number(5, 1), ...message(9, assignment)];
	// CompileOptionsProto: executable_build_options = 3.
	return Uint8Array.from(message(3, build));
}

function varint(value: number): number[] {
	return value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];
}

const number = (field: number, value: number) => [...varint(field << 3), ...varint(value)];

const message = (field: number, bytes: readonly number[]) => [
	...varint((field << 3) | 2),
	...varint(bytes.length),
	...bytes,
];
