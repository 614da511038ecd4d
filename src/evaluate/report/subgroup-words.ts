import type { Evaluation } from "../evaluation.js";

/** What the subgroups show at a horizon: where the model is not ahead of the first baseline, and where risks are off. */
export function subgroupWords({ onset, rows }: Evaluation, years: number): string {
	const [model, baseline] = rows.map(({ label }) => label);
	const groups = (onset?.subgroups ?? [])
		.filter((group) => group.years === years)
		.flatMap(({ name, rows: of }) => {
			const own = of.find(({ label }) => label === model);
			return own ? [{ name, own, other: of.find(({ label }) => label === baseline) }] : [];
		});
	if (groups.length === 0) return "";
	const behind = groups.filter(({ own, other }) => other && own.auroc <= other.auroc);
	const compared = groups.some(({ other }) => other);
	const ahead = !compared
		? []
		: [
				behind.length === 0
					? `Ahead of ${baseline} in every group.`
					: `Not ahead of ${baseline}: ${behind.map(({ name }) => name).join(", ")}.`,
			];
	const sorted = groups.toSorted((a, b) => a.own.observedToExpected - b.own.observedToExpected);
	const ratio = (at: number) => {
		const { name, own } = sorted.at(at) as (typeof sorted)[number];
		return `${own.observedToExpected.toFixed(2)} (${name})`;
	};
	return [
		...ahead,
		groups.length === 1
			? `Observed/expected: ${ratio(0)}.`
			: `Observed/expected lies between ${ratio(0)} and ${ratio(-1)}; above 1, risks are too low. Small groups depend much on chance.`,
	].join(" ");
}
