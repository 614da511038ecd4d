import { existsSync } from "node:fs";
import { Command } from "commander";
import { InputError } from "../../base/errors.js";

/** The benchmarks exist in a clone of the repository only: the published package leaves them out. */
export async function loadBench(isClone = existsSync(new URL("./bench.js", import.meta.url))) {
	return isClone ? import("./bench/command.js") : { command: () => notInPackage };
}

const advice = "in a clone of the repository: npm run build, then npx trajgpt bench --help";

const notInPackage = new Command("bench")
	.description(`Benchmarks are not part of the installed package. Run them ${advice}`)
	.argument("[arguments...]")
	.allowUnknownOption()
	.action(() => {
		throw new InputError(`benchmarks are not part of the installed package; run them ${advice}`);
	});
