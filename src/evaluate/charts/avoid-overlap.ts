/**
 * Moves centres apart, as little as needed for items of these sizes not to overlap, and keeps them between `low`
 * and `high` if they fit.
 */
export function avoidOverlap(
	centres: readonly number[],
	sizes: readonly number[],
	[low, high]: readonly [low: number, high: number],
): number[] {
	interface Block {
		readonly members: readonly number[];
		/** Mean of the starts that its members prefer. */
		readonly start: number;
		readonly size: number;
	}
	const total = sizes.reduce((sum, size) => sum + size, 0);
	const inside = (start: number, size: number) =>
		total > high - low ? start : Math.min(Math.max(start, low), high - size);
	const order = [...centres.keys()].sort(
		(a, b) => (centres[a] as number) - (centres[b] as number) || a - b,
	);
	const blocks: Block[] = [];
	for (const at of order) {
		const size = sizes[at] as number;
		let block: Block = {
			members: [at],
			start: inside((centres[at] as number) - size / 2, size),
			size,
		};
		for (;;) {
			const before = blocks.at(-1);
			if (!before || before.start + before.size <= block.start) break;
			blocks.pop();
			const [n, m] = [before.members.length, block.members.length];
			const joined = before.size + block.size;
			block = {
				members: [...before.members, ...block.members],
				start: inside((n * before.start + m * (block.start - before.size)) / (n + m), joined),
				size: joined,
			};
		}
		blocks.push(block);
	}
	const placed = new Array<number>(centres.length).fill(0);
	for (const { members, start } of blocks) {
		let y = start;
		for (const at of members) {
			const size = sizes[at] as number;
			placed[at] = y + size / 2;
			y += size;
		}
	}
	return placed;
}
