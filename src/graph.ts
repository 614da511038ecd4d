/**
 * Symbolic tensors, their gradients, and what runs them.
 *
 * @packageDocumentation
 */
export * from "./graph/index.js";
export type { Program, Resident, Runtime } from "./runtime/index.js";
export { type NodeRuntimeOptions, nodeRuntime } from "./runtime/node.js";
