import { chunkwise } from "./chunkwise.js";
import { recurrent } from "./recurrent.js";
import type { SraForm } from "./sra.js";

/** Chunks of 32, 64 and 128 slots take the same time to within 2 % (`trajgpt bench step`). */
const inChunks = chunkwise(64);

/** The fastest form for the length: one slot needs no matrix of decays. */
export const sra: SraForm = (inputs) => (inputs.q.shape[2] === 1 ? recurrent : inChunks)(inputs);
