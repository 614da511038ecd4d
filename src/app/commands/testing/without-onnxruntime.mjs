// Loaded before the command line (node --import): loading ONNX Runtime is an error.
import { register } from "node:module";

const hooks = `
export async function resolve(specifier, context, next) {
	if (specifier.startsWith("onnxruntime")) throw new Error("loads " + specifier);
	return next(specifier, context);
}`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
