const names: Readonly<Record<string, string>> = {
	vocab: "codes in the vocabulary, special ones included",
	hazards: "risks, learned in",
	dim: "width",
	key: "width of queries and keys",
	value: "width of values",
	ff: "width inside the feed-forward layers",
	decay: "memory decays by",
	decayUnitDays: "unit of decay, days",
	temperature: "temperature of the decay",
	shortestPeriodDays: "shortest period of the time encoding, days",
	longestPeriodDays: "longest period of the time encoding, days",
	position: "position of a record by",
	positions: "positions with a vector, if absolute",
	gap: "time to the query",
	head: "weights of the output",
	norm: "normalization",
};

/** The name of a model setting in words: decayUnitDays → "unit of decay, days". */
export const settingName = (name: string): string =>
	names[name] ?? name.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
