/** How many letters to add, take away or replace to turn one text into the other. */
function editDistance(a: string, b: string): number {
	let above = Array.from({ length: b.length + 1 }, (_, at) => at);
	for (let i = 1; i <= a.length; i++) {
		const row = [i];
		for (let j = 1; j <= b.length; j++) {
			const replaced = (above[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
			row.push(Math.min(replaced, (above[j] as number) + 1, (row[j - 1] as number) + 1));
		}
		above = row;
	}
	return above[b.length] as number;
}

/** The texts at most `farthest` edits away, the nearest first. */
export function nearest(
	text: string,
	among: readonly string[],
	most: number,
	farthest = 2,
): string[] {
	return among
		.filter((other) => Math.abs(other.length - text.length) <= farthest)
		.map((other) => ({ other, edits: editDistance(text.toLowerCase(), other.toLowerCase()) }))
		.filter(({ edits }) => edits <= farthest)
		.sort((a, b) => a.edits - b.edits)
		.slice(0, most)
		.map(({ other }) => other);
}
