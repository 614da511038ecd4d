/** Stands on every result of a model that was trained on a simulated population. */
export const simulatedText = "simulated population, not real people";
