import type { Io } from "../io.js";
import type { Serving } from "./serving.js";

const signals = ["SIGINT", "SIGTERM"] as const;

/** Serves until Ctrl-C or a supervisor's SIGTERM, then finishes what is under way. Again ends at once. */
export async function untilTold(io: Io, service: Pick<Serving, "close">): Promise<void> {
	let stop: () => void = () => {};
	const told = new Promise<void>((resolve) => {
		stop = resolve;
	});
	for (const signal of signals) process.once(signal, stop);
	await told;
	for (const signal of signals) process.removeListener(signal, stop);
	io.stderr.write("\nfinishing what is under way; again ends at once\n");
	await service.close();
}
