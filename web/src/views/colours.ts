/** The colour of the n-th chosen code's curve; dark enough for text. */
export const curveColour = (at: number): string => `var(--curve-${(at % 5) + 1})`;

/** The colour of a category on a map. */
export const categoryColour = (at: number): string => `var(--category-${(at % 9) + 1})`;
