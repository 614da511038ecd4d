/** The codings that files are sent in, the smallest first. */
const codings = ["br", "gzip"] as const;
export type Coding = (typeof codings)[number];

/** The best of the available codings that an Accept-Encoding header allows; undefined if it allows none. */
export function codingFor(
	header: string | undefined,
	available: readonly Coding[],
): Coding | undefined {
	const weights = new Map<string, number>();
	for (const part of (header ?? "").split(",", 32)) {
		const [name = "", ...parameters] = part.split(";").map((text) => text.trim().toLowerCase());
		const [weight = "q=1"] = parameters.filter((text) => text.startsWith("q="));
		weights.set(name, Number(weight.slice(2)));
	}
	const isAllowed = (coding: Coding) => (weights.get(coding) ?? weights.get("*") ?? 0) > 0;
	return codings.find((coding) => available.includes(coding) && isAllowed(coding));
}
