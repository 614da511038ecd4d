/** The colour of the curve with a number; dark enough for text. */
export const curveColour = (number: number): string => `var(--curve-${(number % 8) + 1})`;

/** The colour of a category on a map. */
export const categoryColour = (at: number): string => `var(--category-${(at % 9) + 1})`;
