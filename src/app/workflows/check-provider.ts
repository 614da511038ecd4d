import { InputError } from "../../base/errors.js";
import { type Provider, providers } from "../../engine/runtime/index.js";
import type { Precision } from "../../engine/tensor/index.js";

/** Rejects an unknown provider, and a precision or devices where there are none to choose. */
export function checkComputeOptions(
	provider: Provider,
	precision: Precision | undefined,
	devices?: number,
): void {
	if (!providers.includes(provider))
		throw new InputError(
			`\`provider\` ${provider}: expected ${providers.join(" or ")}; xla computes on a GPU`,
			{ field: "provider", value: provider },
		);
	if (precision !== undefined && provider !== "xla")
		throw new InputError(
			`\`precision\` ${precision}: ${provider} computes in float32; leave it out, or choose \`provider\` xla`,
			{ field: "precision", value: precision },
		);
	if (devices !== undefined && provider !== "xla")
		throw new InputError(
			`\`devices\` ${devices}: ${provider} has none to share a batch; leave it out, or choose \`provider\` xla`,
			{ field: "devices", value: devices },
		);
}

/** Rejects what cannot be computed on this machine. */
export async function checkProvider(
	provider: Provider,
	precision?: Precision,
	devices?: number,
): Promise<void> {
	checkComputeOptions(provider, precision, devices);
	if (provider !== "xla") return;
	try {
		const { xlaRuntime } = await import("../../engine/runtime/pjrt/index.js");
		await (await xlaRuntime({ ...(devices && { devices }) })).dispose();
	} catch (error) {
		if (!(error instanceof InputError) || error.field === "devices") throw error;
		throw new InputError(`\`provider\` ${provider}: ${error.message}`, {
			...{ field: "provider", value: provider, cause: error },
		});
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
