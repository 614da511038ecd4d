import { hostname } from "node:os";
import { bytesOf } from "../../base/arrays.js";
import { allGathered, type Communicator } from "../../base/communicator.js";
import type { MpiLibrary } from "./library.js";

/** Most values that are summed at once, which bounds the memory that a sum needs. */
const sumAtOnce = 2 ** 22;
/** Most bytes of one message: counts are of 32 bits. */
const bytesAtOnce = 2 ** 30;
/** The main thread alone calls MPI. */
const funneled = 1;

/** Joins the job that a launcher started. */
export function joinJob(library: MpiLibrary): Communicator {
	const { world, byte } = library;
	const called = (name: string, ...parameters: Parameters<MpiLibrary["function"]>[1][number][]) => {
		const call = library.function(`MPI_${name}`, parameters);
		return (...values: unknown[]) => {
			const code = call(...values);
			if (code !== 0) throw new Error(`MPI_${name} of ${library.path} returned error ${code}`);
		};
	};
	const init = called("Init_thread", "pointer", "pointer", "int", "int out");
	const finalize = called("Finalize");
	const abort = called("Abort", "handle", "int");
	const barrier = called("Barrier", "handle");
	const bcast = called("Bcast", "pointer", "int", "handle", "int", "handle");
	const exchange = ["pointer", "int", "handle", "pointer", "int", "handle", "handle"] as const;
	const alltoall = called("Alltoall", ...exchange);
	const allgather = called("Allgather", ...exchange);
	const message = ["pointer", "int", "handle", "int", "int", "handle"] as const;
	const send = called("Send", ...message);
	const receive = called("Recv", ...message, "pointer");
	const numberOf = (name: string) => {
		const number = [0];
		called(name, "handle", "int out")(world, number);
		return number[0];
	};

	init(null, null, funneled, [0]);
	const [rank, size] = [numberOf("Comm_rank"), numberOf("Comm_size")];
	const status = new Uint8Array(64); // larger than that of any implementation

	/**
	 * Each rank adds one slice of the values, in float64 and in order of rank. The order in which a library's own
	 * MPI_Allreduce adds depends on the library, its version and the network.
	 */
	function sumSlices(values: Float32Array | Float64Array): void {
		const { BYTES_PER_ELEMENT: width, length } = values;
		const create = (count: number) =>
			width === 4 ? new Float32Array(count) : new Float64Array(count);
		const perRank = Math.ceil(length / size);
		const all = create(perRank * size);
		all.set(values);
		const received = create(perRank * size);
		alltoall(all, perRank * width, byte, received, perRank * width, byte, world);
		const slice = create(perRank);
		for (let i = 0; i < perRank; i++) {
			let total = 0;
			for (let at = i; at < received.length; at += perRank) total += received[at];
			slice[i] = total;
		}
		allgather(slice, perRank * width, byte, all, perRank * width, byte, world);
		values.set(all.subarray(0, length));
	}

	const inChunks = (values: ArrayBufferView, move: (chunk: Uint8Array) => void) => {
		const bytes = bytesOf(values);
		for (let at = 0; at < bytes.length; at += bytesAtOnce)
			move(bytes.subarray(at, at + bytesAtOnce));
	};
	const sendTo = (to: number, values: ArrayBufferView) =>
		inChunks(values, (chunk) => send(chunk, chunk.length, byte, to, 0, world));
	const receiveFrom = (from: number, values: ArrayBufferView) =>
		inChunks(values, (chunk) => receive(chunk, chunk.length, byte, from, 0, world, status));

	const job = {
		label: `${library.version} (${library.path})`,
		rank,
		size,
		sum(values) {
			for (let at = 0; at < values.length; at += sumAtOnce)
				sumSlices(values.subarray(at, at + sumAtOnce));
		},
		broadcast: (values) => inChunks(values, (chunk) => bcast(chunk, chunk.length, byte, 0, world)),
		gather(bytes) {
			if (rank > 0) {
				sendTo(0, Float64Array.of(bytes.length));
				sendTo(0, bytes);
				return undefined;
			}
			const others = Array.from({ length: size - 1 }, (_, i) => {
				const length = new Float64Array(1);
				receiveFrom(i + 1, length);
				const bytes = new Uint8Array(length[0]);
				receiveFrom(i + 1, bytes);
				return bytes;
			});
			return [bytes, ...others];
		},
		barrier: () => barrier(world),
		abort: (exitCode) => abort(world, exitCode),
		close: () => finalize(),
	} satisfies Partial<Communicator>;
	return { ...job, ...localRanks({ ...job, localRank: 0, localSize: 1 }) };
}

/** The place of this process among those of its machine. */
function localRanks(job: Communicator): Pick<Communicator, "localRank" | "localSize"> {
	const hosts = allGathered(job, hostname());
	const host = hosts[job.rank];
	return {
		localRank: hosts.slice(0, job.rank).filter((name) => name === host).length,
		localSize: hosts.filter((name) => name === host).length,
	};
}
