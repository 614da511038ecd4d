import { chunkwise } from "./chunkwise.js";
import { recurrent } from "./recurrent.js";
import type { SraForm } from "./sra.js";

/** On a CPU, chunks of 64 and 128 slots take the same time; on a GPU, 128 are faster (`trajgpt bench step`). */
const inChunks = chunkwise(128);

/** The fastest form for the length: one slot needs no matrix of decays. */
export const sra: SraForm = (inputs) => (inputs.q.shape[2] === 1 ? recurrent : inChunks)(inputs);
