import { expect, test } from "vitest";
import { modelById } from "../../model/index.js";
import { methodFor } from "./forecast.js";

test("a model forecasts with its default method, a supported one, and no other", () => {
	const [trajgpt, informer] = [modelById("trajgpt"), modelById("informer")];
	expect(methodFor(trajgpt, undefined)).toBe("time-specific");
	expect(methodFor(informer, undefined)).toBe("by-order");
	expect(methodFor(trajgpt, "auto-regressive")).toBe("auto-regressive");
	expect(methodFor(informer, "sampled")).toBe("sampled");
	expect(() => methodFor(informer, "time-specific")).toThrow(
		"Informer does not forecast time-specific; it forecasts by-order and sampled: give one of these as `method`",
	);
});
