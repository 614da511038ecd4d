export { checkedRuntime } from "./checked.js";
export { programs, started } from "./programs.js";
export * from "./runtime.js";
