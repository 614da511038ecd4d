import { setImmediate, setTimeout } from "node:timers/promises";

/** An address is active until this many ms after its last job. */
const activeMs = 10_000;

/** Jobs in one FIFO queue per address. Addresses take turns, one job each. */
export function fairQueue<Job>(clock: () => number) {
	/** The waiting jobs by address, the address whose turn it is first. */
	const waiting = new Map<string, Job[]>();
	/** When an address last added a job. Inactive addresses are forgotten, as their number has no bound. */
	const addedAt = new Map<string, number>();
	let size = 0;

	function remove(address: string, index: number): void {
		const jobs = waiting.get(address) ?? [];
		jobs.splice(index, 1);
		size--;
		if (jobs.length === 0) waiting.delete(address);
	}

	return {
		get size() {
			return size;
		},
		/** Whether several addresses have jobs, or had some in the last 10 s. */
		isShared(): boolean {
			const now = clock();
			for (const [address, time] of addedAt)
				if (now - time > activeMs && !waiting.has(address)) addedAt.delete(address);
			return addedAt.size > 1;
		},
		add(address: string, job: Job): void {
			addedAt.set(address, clock());
			const jobs = waiting.get(address);
			if (jobs) jobs.push(job);
			else waiting.set(address, [job]);
			size++;
		},
		/** Takes the next job: the oldest of the first address whose oldest job may start. */
		take(mayStart: (job: Job, address: string) => boolean): Job | undefined {
			for (const [address, jobs] of waiting) {
				const job = jobs[0] as Job;
				if (!mayStart(job, address)) continue;
				remove(address, 0);
				if (jobs.length > 0) {
					waiting.delete(address);
					waiting.set(address, jobs);
				}
				return job;
			}
			return undefined;
		},
		/** Takes a job that is no longer wanted. */
		withdraw(address: string, job: Job): void {
			const index = waiting.get(address)?.indexOf(job) ?? -1;
			if (index >= 0) remove(address, index);
		},
		/** Takes the latest job of the address with the most jobs. */
		takeLatest(): Job | undefined {
			const [longest] = [...waiting].sort(([, a], [, b]) => b.length - a.length);
			const job = longest?.[1].at(-1);
			if (longest) remove(longest[0], longest[1].length - 1);
			return job;
		},
	};
}

/** Steps longer than this many ms make their address pause. */
const shortMs = 2;

/**
 * Shares the thread that reads requests: one step per turn of the event loop, and addresses take turns.
 * While several addresses are active, one whose step was long pauses for as long, so that the thread is free
 * for others half of the time. Hundreds of requests, or long ones, delay only their own address.
 */
export function readingTurns(
	clock: () => number = () => performance.now(),
): (address: string) => Promise<void> {
	const queue = fairQueue<{ readonly address: string; start(): void }>(clock);
	const pausesUntil = new Map<string, number>();
	let isGiving = false;

	async function give(): Promise<void> {
		isGiving = true;
		while (queue.size > 0) {
			const now = clock();
			for (const [address, end] of pausesUntil) if (end <= now) pausesUntil.delete(address);
			const step = queue.take((_, address) => !pausesUntil.has(address));
			if (!step) {
				await setTimeout(1);
				continue;
			}
			step.start();
			await setImmediate();
			const took = clock() - now;
			if (took > shortMs && queue.isShared()) pausesUntil.set(step.address, clock() + took);
		}
		isGiving = false;
	}

	return (address) =>
		new Promise((resolve) => {
			queue.add(address, { address, start: resolve });
			if (!isGiving) void give();
		});
}
