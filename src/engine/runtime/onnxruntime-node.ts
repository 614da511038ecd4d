// The only file that loads onnxruntime-node: telemetry must be off before that.
import "./no-telemetry.js";

export * from "onnxruntime-node";
