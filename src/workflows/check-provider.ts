import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { InputError } from "../base/errors.js";
import { add, input, type Precision, toOnnx } from "../graph/index.js";
import type { Provider } from "../runtime/index.js";

const longestMilliseconds = 60_000;

const probe = `
const [engine, model, provider] = process.argv.slice(1);
const ort = await import(engine);
const { InferenceSession, Tensor } = ort.default ?? ort;
const session = await InferenceSession.create(Buffer.from(model, "base64"), {
	executionProviders: [provider],
	logSeverityLevel: 4,
});
const { y } = await session.run({ x: new Tensor("float32", [1, 2], [2]) });
process.exit(y.data[0] === 2 && y.data[1] === 4 ? 0 : 1);
`;

/** Whether the provider computes a sum correctly. Runs in another process, because ONNX Runtime may end it. */
export async function canCompute(provider: string): Promise<boolean> {
	const x = input("x", [2]);
	const model = Buffer.from(toOnnx({ outputs: { y: add(x, x) } }).bytes).toString("base64");
	const engine = pathToFileURL(createRequire(import.meta.url).resolve("onnxruntime-node")).href;
	const argv = ["--input-type=module", "-e", probe, engine, model, provider];
	const child = spawn(process.execPath, argv, {
		stdio: "ignore",
		timeout: longestMilliseconds,
		killSignal: "SIGKILL",
		env: { ...process.env, ORT_DISABLE_TELEMETRY: "1" },
	});
	const [code] = await once(child, "close");
	return code === 0;
}

let webgpuWorks: Promise<boolean> | undefined;

const checks: Readonly<Record<Provider, () => Promise<void>>> = {
	async cpu() {},
	async webgpu() {
		webgpuWorks ??= canCompute("webgpu");
		if (await webgpuWorks) return;
		throw new InputError(
			"no GPU can be used on this machine; it needs a GPU and its Vulkan driver (vulkaninfo lists them): install the driver, or leave out `provider` to compute on the CPU",
		);
	},
	async xla() {
		const { openDevices } = await import("../runtime/pjrt/index.js");
		await (await openDevices()).destroy();
	},
};

/** Rejects a provider that cannot compute on this machine. */
export async function checkProvider(provider: Provider): Promise<void> {
	try {
		await checks[provider]();
	} catch (error) {
		if (!(error instanceof InputError)) throw error;
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

/** Rejects a precision where there is none to choose. */
export function checkPrecision(provider: Provider, precision: Precision | undefined): void {
	if (precision === undefined || provider === "xla") return;
	throw new InputError(
		`\`precision\` ${precision}: ${provider} computes in float32; leave it out, or choose \`provider\` xla`,
		{ field: "precision", value: precision },
	);
}
