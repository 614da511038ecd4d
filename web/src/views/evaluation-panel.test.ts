import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { exampleNext } from "../../../src/evaluate/report/testing/example-report.js";
import { EvaluationPanel } from "./evaluation-panel.js";

test("says where few patients allow no conclusion", () => {
	const page = (evaluation: Parameters<typeof EvaluationPanel>[0]["evaluation"]) =>
		renderToStaticMarkup(createElement(EvaluationPanel, { evaluation }));
	const tooFew = "5 test patients: no conclusion";
	const enough = exampleNext(3, 3.4, 0.01);
	expect(page({ ...enough, tooFew })).toContain(
		`of the ${enough.split} split; 95 % intervals over patients. ${tooFew}.`,
	);
	expect(page(enough)).not.toContain("no conclusion");
});
