/** The texts whose count is not 0. */
export const notesFor = (notes: readonly (readonly [count: number, text: string])[]): string[] =>
	notes.flatMap(([count, text]) => (count > 0 ? [text] : []));

/** `1 row`, `2 rows`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
	`${count} ${count === 1 ? one : many}`;
