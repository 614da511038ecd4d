import * as web from "onnxruntime-web";
import * as node from "../../../engine/runtime/onnxruntime-node.js";

type Values = Float32Array | Float64Array | Int32Array | Uint8Array;
export type Named = Readonly<
	Record<string, { readonly data: Values; readonly dims: readonly number[] }>
>;

/** The part of both packages that an export needs. */
const engines = { node, web };
export type EngineName = keyof typeof engines;
export const engineNames = Object.keys(engines) as EngineName[];

const dtypeOf = (data: Values) => {
	if (data instanceof Float32Array) return "float32";
	if (data instanceof Float64Array) return "float64";
	return data instanceof Int32Array ? "int32" : "bool";
};

/** Opens an ONNX model with the engine alone, without this library. */
export async function openSession(
	engine: EngineName,
	bytes: Uint8Array,
	externalData?: { readonly path: string; readonly data: Uint8Array },
) {
	const { InferenceSession, Tensor } = engines[engine] as typeof node;
	const session = await InferenceSession.create(bytes, {
		executionProviders: [engine === "web" ? "wasm" : "cpu"],
		intraOpNumThreads: 1,
		logSeverityLevel: 3,
		...(externalData && { externalData: [externalData] }),
	});
	return {
		inputs: session.inputNames,
		outputs: session.outputNames,
		async run(feeds: Named): Promise<Named> {
			const given = Object.entries(feeds).map(
				([name, { data, dims }]) => [name, new Tensor(dtypeOf(data), data, dims)] as const,
			);
			const found = await session.run(Object.fromEntries(given));
			return Object.fromEntries(
				Object.entries(found).map(([name, { data, dims }]) => [
					name,
					{ data: data as Values, dims },
				]),
			);
		},
		release: () => session.release(),
	};
}
export type Session = Awaited<ReturnType<typeof openSession>>;
