/** Programs on accelerators: a binding to the PJRT C API, and a `Runtime` on top of it. */
export { findPlugins, installCommand, isUnsafePassOff, openDevices, userFlags } from "./plugin.js";
export { xlaRuntime } from "./runtime.js";
