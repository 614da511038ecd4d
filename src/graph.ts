/**
 * Symbolic tensors, their gradients, and what runs them.
 *
 * @packageDocumentation
 */

export type { Program, Resident, Runtime } from "./engine/runtime/index.js";
export { type NodeRuntimeOptions, nodeRuntime } from "./engine/runtime/node.js";
export * from "./engine/tensor/index.js";
