import { describe, test } from "vitest";
import { models } from "../index.js";
import { expectSameStep } from "./testing/one-step.js";

describe("a step of the StableHLO text equals one of ONNX Runtime", () => {
	test.each(models.map((model) => [model.id, model] as const))("%s", (_, model) =>
		expectSameStep(model),
	);
});
