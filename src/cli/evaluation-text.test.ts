import { expect, test } from "vitest";
import { acrossRuns } from "../evaluate/index.js";
import { exampleNext } from "../figures/report/testing/example-report.js";
import { acrossRunsText, evaluationText } from "./evaluation-text.js";

test("few patients are named before any number, of one run and of several", () => {
	const tooFew = "5 test patients: no conclusion";
	const few = { ...exampleNext(3, 3.4, 0.01), tooFew };
	const one = evaluationText("run", "written: eval.json", few);
	expect(one.split("\n\n")[1]).toBe(`${tooFew}.`);
	expect(acrossRunsText("next", acrossRuns([few, few])).split("\n\n")[1]).toBe(`${tooFew}.`);
	const { tooFew: _none, ...enough } = few;
	expect(evaluationText("run", "written: eval.json", enough)).not.toContain("no conclusion");
});
