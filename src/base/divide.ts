import { allGathered, type Communicator, oneProcess } from "./communicator.js";

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
export function withOthers(job: Communicator, own: Float32Array): Float32Array {
	if (job.size === 1) return own;
	const longest = Math.max(...allGathered(job, own.length));
	const all = own.length === longest ? own : new Float32Array(longest);
	job.sum(all);
	return all;
}

/** The pieces of all processes in order, given those of this one; they must survive a round trip through JSON. */
export function inOrder<T>(job: Communicator, own: readonly T[]): T[] {
	if (job.size === 1) return [...own];
	const each = allGathered(job, own);
	const count = each.reduce((sum, { length }) => sum + length, 0);
	return Array.from({ length: count }, (_, piece) => {
		const { [piece % job.size]: pieces = [] } = each;
		return pieces[Math.floor(piece / job.size)] as T;
	});
}
