import { expect, test } from "vitest";
import { type DemoReport, render } from "./render.js";

const measured = (value: number) => ({ value, low: value - 0.01, high: value + 0.01 });
const counts = { patients: 4, events: 40 };

const report: DemoReport = {
	out: "runs/x",
	settings: { patients: 1000, epochs: 2, seed: 1 },
	counts: { ...counts, tokens: 20, splits: { train: counts, valid: counts, test: counts } },
	labels: [{ task: "chf", rule: "", labels: 30, positive: 3, excluded: {} }],
	training: { epochs: 2, step: 9, parameters: 1500 },
	evaluations: {
		onset: {
			...evaluation("onset", [
				{
					who: "model",
					label: "TrajGPT",
					metrics: { "auroc 5y": measured(0.65), "averagePrecision 5y": measured(0.11) },
				},
				{ who: "global", label: "age and sex", metrics: { "auroc 5y": measured(0.6) } },
			]),
			onset: {
				...{ index: "random", lookBackDays: 365, subgroups: [], codes: [] },
				horizons: [{ years: 5, codes: 115, calibration: [], decisions: [] }],
			},
		},
		next: evaluation("next", [
			{ who: "model", label: "TrajGPT", metrics: { nats: measured(2.5), accuracy: measured(0.3) } },
		]),
		forecast: evaluation("forecast", [
			{
				who: "model",
				label: "TrajGPT, auto-regressive",
				method: "auto-regressive",
				metrics: { "recall@10": measured(0.55) },
			},
			{
				who: "model",
				label: "TrajGPT, time-specific",
				method: "time-specific",
				metrics: { "recall@10": measured(0.65), "recall@10 new": measured(0.12) },
			},
		]),
		chf: evaluation("chf", [
			{ who: "model", label: "TrajGPT, fine-tuned", metrics: { auprc: measured(0.25) } },
			{ who: "global", label: "prevalence", metrics: { auprc: measured(0.05) } },
		]),
	},
	report: "runs/x/run/report.html",
	example: "p7",
};

type Evaluations = DemoReport["evaluations"];

function evaluation(
	task: string,
	rows: NonNullable<Evaluations[string]>["rows"],
): NonNullable<Evaluations[string]> {
	const about = { kind: "trajgpt-evaluation", version: 3, split: "test" } as const;
	return { ...about, notes: [], task, patients: 6, events: 60, seed: 0, draws: 10, rows };
}

test("prints the numbers of every task, and suggests commands for a test patient", () => {
	const text = render(report);
	expect(text).toMatch(/^within 5 years, 115 codes +AUROC +average precision, %/m);
	expect(text).toMatch(/^TrajGPT +0\.650 \[0\.640, 0\.660\] +11\.00 \[10\.00, 12\.00\]$/m);
	expect(text).toMatch(/^age and sex +0\.600/m);
	expect(text.indexOf("within 5 years")).toBeLessThan(text.indexOf("next: nats"));
	expect(text).toMatch(
		/^TrajGPT +2\.500 \[2\.490, 2\.510\] +30\.0 \[.*\] +65\.0 \[64\.0, 66\.0\] +12\.0 \[11\.0, 13\.0\]$/m,
	);
	expect(text).toMatch(/^TrajGPT, fine-tuned +0\.250 \[0\.240, 0\.260\]$/m);
	expect(text).toMatch(/^prevalence +0\.050/m);
	expect(text).toContain("trajgpt risk runs/x/run --patient p7 --code 428");
	expect(text).toContain("The report, with figures: runs/x/run/report.html");
});
