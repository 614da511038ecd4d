import { Command } from "commander";
import { examples } from "../examples.js";
import type { Io } from "../io.js";
import { hazardsCommand } from "./commands/hazards.js";
import { inferCommand } from "./commands/infer.js";
import { inputCommand } from "./commands/input.js";
import { modelsCommand } from "./commands/models.js";
import { mpiCommand } from "./commands/mpi.js";
import { operationsCommand } from "./commands/operations.js";
import { prepareCommand } from "./commands/prepare.js";
import { serveCommand } from "./commands/serve.js";
import { stepCommand } from "./commands/step.js";

export function command(io: Io): Command {
	return new Command("bench")
		.description("Measure speed, as a ratio to a peer in the same run where there is one.")
		.addCommand(stepCommand(io).summary("time one training step, against PyTorch"))
		.addCommand(inferCommand(io).summary("time predictions for one patient and for many"))
		.addCommand(hazardsCommand(io).summary("time what hazards cost a training step, and risks"))
		.addCommand(mpiCommand(io).summary("time training steps that several processes share"))
		.addCommand(prepareCommand(io).summary("time prepare, against pandas"))
		.addCommand(inputCommand(io).summary("time how fast batches are prepared for an accelerator"))
		.addCommand(serveCommand(io).summary("measure the service under load, over loopback"))
		.addCommand(
			operationsCommand(io).summary("check that every operation is repeatable on several threads"),
		)
		.addCommand(
			modelsCommand(io).summary("check that every model learns the same on another engine"),
		)
		.addHelpText(
			"after",
			examples({
				"trajgpt bench step": "a training step of the paper's model, against PyTorch",
				"trajgpt bench infer": "latency and throughput of predictions",
				"trajgpt bench hazards": "a training step with hazards, and risks",
				"trajgpt bench prepare": "prepare, against pandas",
				"trajgpt bench input --dataset data": "batches for an accelerator",
				"trajgpt bench serve": "the service under load",
				"trajgpt bench operations": "repeatability of every operation",
				"trajgpt bench models --provider xla": "every model on an accelerator, against the CPU",
			}),
		);
}
