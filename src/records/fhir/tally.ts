const mostNames = 200;

/** Counts under names, of which there may be only so many. */
export class Tally {
	readonly #counts = new Map<string, number>();

	add(name: string): void {
		const known = this.#counts.has(name) || this.#counts.size < mostNames ? name : "others";
		this.#counts.set(known, (this.#counts.get(known) ?? 0) + 1);
	}

	get total(): number {
		return [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
	}

	/** `421 Observation, 30 Claim`: the most frequent first, then by name. */
	toString(): string {
		return [...this.#counts]
			.sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
			.map(([name, count]) => `${count} ${name}`)
			.join(", ");
	}
}
