import { test } from "vitest";
import { modelById } from "../index.js";
import { expectSameStep } from "./testing/one-step.js";

test("a step of the StableHLO text equals one of ONNX Runtime", () =>
	expectSameStep(modelById("trajgpt")));
