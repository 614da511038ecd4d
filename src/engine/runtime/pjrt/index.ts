/** Programs on accelerators: a binding to the PJRT C API, and a `Runtime` on top of it. */
export { findPlugins, installCommand } from "./find-plugin.js";
export { openDevices } from "./open-devices.js";
export { xlaRuntime } from "./runtime.js";
export { isUnsafePassOff, userFlags } from "./xla-flags.js";
