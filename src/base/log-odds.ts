/** The probability that has these log-odds. */
export const probabilityOf = (logOdds: number): number => 1 / (1 + Math.exp(-logOdds));
