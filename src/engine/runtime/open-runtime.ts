import { availableParallelism, cpus } from "node:os";
import { type Communicator, divideAmong, oneProcess } from "../../base/communicator.js";
import { InputError } from "../../base/errors.js";
import type { Precision } from "../tensor/index.js";
import { checkedRuntime, type Provider, providers, type Runtime } from "./index.js";

/** Where and how a workflow computes. */
export interface ComputeOptions {
	/** CPU threads. Default: all cores or, for a run that exists, as in its training where there are as many. */
	readonly threads?: number | undefined;
	/** Default: `cpu` or, when resuming, as before. */
	readonly provider?: Provider | undefined;
	/** How matrix products are computed with `provider` xla. Default: `tf32` or, when resuming, as before. */
	readonly precision?: Precision | undefined;
	/** Devices that share each batch in training with `provider` xla. Default: 1. */
	readonly devices?: number | undefined;
	/** The processes that share the work; all of them call the workflow. Default: this one alone. */
	readonly communicator?: Communicator | undefined;
}

/** The cores of this process: of the machine's, its share, or those that a launcher bound it to. */
export const ownCores = ({ localSize }: Communicator): number =>
	localSize === 1
		? availableParallelism()
		: Math.max(1, Math.min(availableParallelism(), Math.floor(cpus().length / localSize)));

/** The threads of a run's training, or all cores if these are fewer: a large machine may have trained it. */
export const threadsOf = (
	{ run }: { readonly run: { readonly threads: number } },
	communicator: Communicator = oneProcess,
): number => Math.min(run.threads, ownCores(communicator));

/** Opens the engine of a provider, which is loaded only then. The caller disposes of it. */
export async function openRuntime(
	options: ComputeOptions,
	purpose: "training" | "inference",
): Promise<Runtime> {
	const { provider = "cpu", precision, devices, communicator = oneProcess } = options;
	const { threads = communicator.localSize > 1 ? ownCores(communicator) : undefined } = options;
	checkComputeOptions(provider, precision, devices);
	const isShared = communicator.size > 1;
	const onCpu = async (purpose: "training" | "inference") => {
		const { nodeRuntime } = await import("./node.js");
		return nodeRuntime({ purpose, ...(threads !== undefined && { threads }) });
	};
	const onDevices = async () => {
		if (isShared && devices !== undefined && devices > 1)
			throw refusal(
				"devices",
				devices,
				"each process uses one accelerator, the one of its local rank; leave it out, and start a process per accelerator",
			);
		const { xlaRuntime } = await import("./pjrt/index.js");
		// Processes that share a training exchange gradients, and some of these are nothing but rounding.
		const isChecked =
			process.env.TRAJGPT_XLA_CHECK === "1" && !(isShared && purpose === "training");
		const reference = isChecked ? await onCpu("inference") : undefined;
		const runtime = await xlaRuntime({
			...(precision && { precision }),
			...(devices && { devices }),
		});
		return reference ? checkedRuntime(runtime, reference, precision ?? "tf32") : runtime;
	};
	const runtime = await (provider === "xla" ? onDevices() : onCpu(purpose));
	return isShared ? { ...runtime, divide: divideAmong(communicator) } : runtime;
}

/** Opens the engine of a provider for some work, and disposes of it afterwards. */
export async function withRuntime<T>(
	options: ComputeOptions,
	purpose: "training" | "inference",
	work: (runtime: Runtime) => Promise<T>,
): Promise<T> {
	const runtime = await openRuntime(options, purpose);
	try {
		return await work(runtime);
	} finally {
		await runtime.dispose?.();
	}
}

/** Rejects an unknown provider, and a precision or devices where there are none to choose. */
function checkComputeOptions(
	provider: Provider,
	precision: Precision | undefined,
	devices?: number,
): void {
	const instead = "leave it out, or choose `provider` xla";
	if (!providers.includes(provider))
		throw refusal(
			"provider",
			provider,
			`expected ${providers.join(" or ")}; xla computes on a GPU`,
		);
	if (precision !== undefined && provider !== "xla")
		throw refusal("precision", precision, `${provider} computes in float32; ${instead}`);
	if (devices !== undefined && provider !== "xla")
		throw refusal("devices", devices, `${provider} has none to share a batch; ${instead}`);
}

const refusal = (
	field: string,
	value: string | number,
	reason: string,
	more: { readonly cause?: unknown } = {},
) => new InputError(`\`${field}\` ${value}: ${reason}`, { field, value, ...more });

/** Rejects what cannot be computed on this machine. */
export async function checkProvider(
	provider: Provider,
	precision?: Precision,
	devices?: number,
): Promise<void> {
	checkComputeOptions(provider, precision, devices);
	if (provider !== "xla") return;
	try {
		const { xlaRuntime } = await import("./pjrt/index.js");
		await (await xlaRuntime({ ...(devices && { devices }) })).dispose();
	} catch (error) {
		if (!(error instanceof InputError) || error.field === "devices") throw error;
		throw refusal("provider", provider, error.message, { cause: error });
	}
}

/** XLA where a plugin and a device are found, else the CPU. */
export async function automaticProvider(): Promise<Provider> {
	try {
		await checkProvider("xla");
		return "xla";
	} catch (error) {
		if (!(error instanceof InputError)) throw error;
		return "cpu";
	}
}
