import { createHash } from "node:crypto";
import { readdirSync, rmSync, statSync, utimesSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { replaceFile } from "../../../base/files/index.js";

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

/**
 * Compiled programs in a folder, each under the hash of all that it depends on. Where the folder cannot be read or
 * written, everything is compiled.
 */
export function executableCache(folder: string, limit = mostBytes) {
	const fileOf = (key: string) => join(folder, key + ending);
	return {
		/** The bytes that were stored; undefined if there are none, or they are damaged. */
		async read(key: string): Promise<Buffer | undefined> {
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
		/** Stores bytes, and removes those that were used the longest ago if the folder is too large. */
		async write(key: string, bytes: Uint8Array): Promise<void> {
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
	const options = new BinaryWriter();
	const number = (field: number, value: number) => options.tag(field, WireType.Varint).int32(value);
	const begin = (field: number) => options.tag(field, WireType.LengthDelimited).fork();
	begin(3); // executable_build_options
	number(4, devices.length); // num_replicas
	number(5, 1); // num_partitions
	begin(9); // device_assignment
	number(1, devices.length); // replica_count
	number(2, 1); // computation_count
	begin(3); // computation_devices
	begin(1); // replica_device_ids
	for (const device of devices) options.int32(device);
	return options.join().join().join().join().finish();
}
