// Created once: `toLocaleString` creates a formatter per call, which is too slow for the ticks of a page.
const plain = new Intl.NumberFormat("en-US", { maximumFractionDigits: 3 });

/** 12,345 */
export const thousands = (value: number): string => plain.format(value);
