import { expect, test } from "vitest";
import { acrossRuns } from "../../../evaluate/index.js";
import { exampleNext } from "../../../evaluate/report/testing/example-report.js";
import { acrossRunsText, evaluationText } from "./text.js";

test("few patients are named before any number, of one run and of several", () => {
	const tooFew = "5 test patients: no conclusion";
	const few = { ...exampleNext(3, 3.4, 0.01), tooFew };
	const one = evaluationText("run", "written: eval.json", few);
	expect(one.split("\n\n")[1]).toBe(`${tooFew}.`);
	expect(acrossRunsText("next", acrossRuns([few, few])).split("\n\n")[1]).toBe(`${tooFew}.`);
	const { tooFew: _none, ...enough } = few;
	expect(evaluationText("run", "written: eval.json", enough)).not.toContain("no conclusion");
});

test("chf prints the differences of every model row to own history and to age and sex", () => {
	const measure = (value: number) => ({ auroc: { value, low: value - 0.1, high: value + 0.1 } });
	const model = ["zero-shot risk", "fine-tuned"].map((label) => ({ who: "model" as const, label }));
	const others = [
		{ who: "history", label: "ridge regression" },
		{ who: "global", label: "prevalence" },
		{ who: "global", label: "age and sex" },
		{ who: "oracle", label: "reference model" },
	] as const;
	const rows = [...model, ...others].map((name) => ({ ...name, metrics: measure(0.7) }));
	const differences = model.flatMap(({ label: row }, at) =>
		rows.slice(at + 1).map(({ label: than }) => ({ row, than, metrics: measure(0.2) })),
	);
	const text = evaluationText("run", "written: eval.json", {
		...{ ...exampleNext(3, 3.4, 0.01), task: "chf", rows, differences },
	});
	expect(text).toMatch(
		/^chf: Is heart failure recorded for the first time within three years of an index day\? run, step /,
	);
	expect([...text.matchAll(/^(.* − .*?) {2,}\+0\.200/gm)].map(([, pair]) => pair)).toEqual([
		"zero-shot risk − fine-tuned",
		"zero-shot risk − ridge regression",
		"zero-shot risk − age and sex",
		"zero-shot risk − reference model",
		"fine-tuned − ridge regression",
		"fine-tuned − age and sex",
	]);
});

test("a task of one's own asks for its label", () => {
	const text = evaluationText("run", "written: eval.json", {
		...{ ...exampleNext(3, 3.4, 0.01), task: "stroke" },
	});
	expect(text).toMatch(/^stroke: Is the label “stroke” true\? run, step /);
});

test("notes and the last line name options as flags, the rest stays", () => {
	const notes = ["sample: 20 of 60; `patients` sets how many"];
	const evaluation = { ...exampleNext(3, 3.4, 0.01), notes };
	const text = evaluationText("`patients`", "not stored: `patients`", evaluation, (line) =>
		line.replaceAll("`patients`", "--patients"),
	);
	expect(text).toContain("\nsample: 20 of 60; --patients sets how many\nnot stored: --patients\n");
	expect(text).toMatch(/^next: .* `patients`, step /);
});
