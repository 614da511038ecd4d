/** Records of the index day are history, as in `src/data/cohort/at-risk.ts`: those before this time are known. */
export const endOfDay = (date: number): number => Math.floor(date) + 1;
