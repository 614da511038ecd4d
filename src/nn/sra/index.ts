import { chunkwise } from "./chunkwise.js";
import type { SraForm } from "./sra.js";

export { chunkwise } from "./chunkwise.js";
export { parallel } from "./parallel.js";
export { recurrent, step } from "./recurrent.js";
export type { SraForm, SraInputs, SraOutputs } from "./sra.js";

/** The fastest form by measurement (`trajgpt bench step`): chunks of this many slots, one chunk if fewer. */
const chunk = 64;

export const sra: SraForm = (inputs) => chunkwise(chunk)(inputs);
