/**
 * Processes that work on one job together, numbered by rank from 0. All of them make the same calls in the same order;
 * a call returns when the ranks that it depends on have made it too.
 */
export interface Communicator {
	/** The library that connects the processes: "Open MPI v4.1.4 (libmpi.so.40)". */
	readonly label: string;
	readonly rank: number;
	/** The number of processes. */
	readonly size: number;
	/** The rank among the processes of this machine; it chooses the GPU. */
	readonly localRank: number;
	/** How many processes of the job run on this machine. */
	readonly localSize: number;
	/** Replaces the values by their sums over all ranks, added in order of rank: the same bits on every rank and every time. */
	sum(values: Float32Array | Float64Array): void;
	/** Replaces the bytes by those of rank 0; the length is the same on all ranks. */
	broadcast(values: ArrayBufferView): void;
	/** The bytes of each rank, of any length; on other ranks than 0 undefined. */
	gather(bytes: Uint8Array): Uint8Array[] | undefined;
	barrier(): void;
	/** Ends all processes of the job at once. */
	abort(exitCode: number): void;
	/** Leaves the job; nothing can be called afterwards. */
	close(): void;
}

/** A process on its own. */
export const oneProcess: Communicator = {
	label: "one process",
	rank: 0,
	size: 1,
	localRank: 0,
	localSize: 1,
	sum() {},
	broadcast() {},
	gather: (bytes) => [bytes],
	barrier() {},
	abort() {},
	close() {},
};

const encoded = (value: unknown) => new TextEncoder().encode(JSON.stringify(value ?? null));
const decoded = (bytes: Uint8Array) => JSON.parse(new TextDecoder().decode(bytes));

/** What rank 0 makes, on all ranks; it must survive a round trip through JSON. */
export async function shared<T>(
	communicator: Communicator,
	make: () => T | Promise<T>,
): Promise<T> {
	if (communicator.size === 1) return make();
	return fromFirst(communicator, communicator.rank === 0 ? await make() : undefined) as T;
}

/** The value of rank 0, on all ranks. */
function fromFirst(communicator: Communicator, value: unknown): unknown {
	const first = communicator.rank === 0 ? encoded(value) : undefined;
	const length = Float64Array.of(first?.length ?? 0);
	communicator.broadcast(length);
	const bytes = first ?? new Uint8Array(length[0] as number);
	communicator.broadcast(bytes);
	return decoded(bytes);
}

/** One value per rank, in order of rank, on every rank; they must survive a round trip through JSON. */
export function allGathered<T>(communicator: Communicator, value: T): T[] {
	if (communicator.size === 1) return [value];
	const each = communicator.gather(encoded(value))?.map(decoded);
	return fromFirst(communicator, each) as T[];
}

/** Whether something holds on at least one rank. */
export function anyRank(communicator: Communicator, holds: boolean): boolean {
	if (communicator.size === 1) return holds;
	const count = Float64Array.of(Number(holds));
	communicator.sum(count);
	return (count[0] as number) > 0;
}

/**
 * Calls work with the processes that share it. Each does its own pieces, and they put the results together before the
 * work returns. Work within a piece is not shared again.
 */
export type Divide = <T>(work: (job: Communicator) => Promise<T>) => Promise<T>;

/** All work is done by this process. */
export const alone: Divide = (work) => work(oneProcess);

export function divideAmong(communicator: Communicator): Divide {
	if (communicator.size === 1) return alone;
	let isDivided = false;
	return async (work) => {
		if (isDivided) return work(oneProcess);
		isDivided = true;
		try {
			return await work(communicator);
		} finally {
			isDivided = false;
		}
	};
}

/** Whether a piece of work, by its number, belongs to this process. */
export const isOwn = ({ rank, size }: Communicator, piece: number): boolean =>
	piece % size === rank;

/**
 * Fills in what other processes have computed: each has zeros there. Arrays without any piece may be empty, and get
 * the length of the others.
 */
export function withOthers(job: Communicator, pieces: Float32Array): Float32Array {
	if (job.size === 1) return pieces;
	const longest = Math.max(...allGathered(job, pieces.length));
	const all = pieces.length === longest ? pieces : new Float32Array(longest);
	job.sum(all);
	return all;
}

/** The pieces of all processes in order, given those of this one; they must survive a round trip through JSON. */
export function inOrder<T>(job: Communicator, pieces: readonly T[]): T[] {
	if (job.size === 1) return [...pieces];
	const each = allGathered(job, pieces);
	const count = each.reduce((sum, { length }) => sum + length, 0);
	return Array.from({ length: count }, (_, piece) => {
		const { [piece % job.size]: pieces = [] } = each;
		return pieces[Math.floor(piece / job.size)] as T;
	});
}
