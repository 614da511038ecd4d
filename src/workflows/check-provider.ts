import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { InputError } from "../base/errors.js";
import { add, input, toOnnx } from "../graph/index.js";
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

const known = new Map<Provider, Promise<boolean>>();

/** Rejects a provider that cannot compute on this machine; checks each provider once per process. */
export async function checkProvider(provider: Provider): Promise<void> {
	if (provider === "cpu") return;
	const works = known.get(provider) ?? canCompute(provider);
	known.set(provider, works);
	if (await works) return;
	throw new InputError(
		`\`provider\` ${provider}: no GPU can be used on this machine; it needs a GPU and its Vulkan driver (vulkaninfo lists them): install the driver, or leave out \`provider\` to compute on the CPU`,
		{ field: "provider", value: provider },
	);
}
