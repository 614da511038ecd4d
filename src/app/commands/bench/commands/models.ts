import { Command, Option } from "commander";
import { type Provider, precisions, providers } from "../../../../engine/runtime/index.js";
import type { Precision } from "../../../../engine/tensor/index.js";
import { modelById, models } from "../../../../model/index.js";
import type { Io } from "../../io.js";
import { providerOption, threadCount, wholeNumber } from "../../option-values.js";
import type { ModelsReport } from "../models.js";
import { measuring } from "./measuring.js";

export interface ModelsOptions {
	readonly provider: Provider;
	readonly precision?: Precision;
	readonly threads: number;
	readonly steps: number;
	readonly only: readonly string[];
	readonly json?: true;
}

export function modelsCommand(io: Io): Command {
	const modelIds = models.map(({ id }) => id);
	const everyModel = new Command("models")
		.description(
			"Train every model in its tiny preset, with the default objective, on one thread of the CPU and\n" +
				"twice on another engine, from the same weights, batches and draws. Compare the first loss and\n" +
				"its gradients, the validation loss after the last step, and the weights of the two trainings.\n" +
				'"last digits" is the difference that the CPU itself makes if the last digits of the weights\n' +
				"change. Exits with 1 if a difference is too large, also beside that one, or if the second\n" +
				"training ends with other weights.",
		)
		.addOption(providerOption(providers, "engine to check"))
		.addOption(
			new Option(
				"--precision <name>",
				"operands of matrix products with --provider xla (default: float32)",
			).choices(precisions),
		)
		.option("--threads <n>", "number of threads with --provider cpu", threadCount, 2)
		.option("--steps <n>", "training steps", wholeNumber(1, 1_000_000), 200)
		.addOption(
			new Option("--only <list>", "models to check")
				.argParser((text) => text.split(",").map((id) => modelById(id).id))
				.default(modelIds, "all"),
		);
	measuring<ModelsOptions, ModelsReport>(
		io,
		everyModel,
		{
			"trajgpt bench models --provider xla": "an accelerator, in float32",
			"trajgpt bench models --provider xla --precision bf16 --only trajgpt,gru-d": "two models",
		},
		async () => {
			const { benchModels, renderModels } = await import("../models.js");
			return {
				measure: benchModels,
				render: renderModels,
				failed: ({ failed }) => failed.length > 0,
			};
		},
	);
	return everyModel;
}
