import { type ComputeOptions, threadsOf, withRuntime } from "../../engine/runtime/open-runtime.js";
import type { Trained } from "../../model/train/index.js";
import { type HazardModel, hazardModel } from "../../predict/index.js";

/** Opens the hazards of a run for some work, and disposes of them afterwards. */
export const withHazards = <T>(
	trained: Trained,
	{ threads = threadsOf(trained), provider, precision }: ComputeOptions,
	work: (model: HazardModel) => Promise<T>,
): Promise<T> =>
	withRuntime({ threads, provider, precision }, "inference", async (runtime) => {
		const model = hazardModel(runtime, trained);
		return await work(model).finally(() => model.dispose());
	});
