import { blood } from "./blood.js";
import { circulatory } from "./circulatory.js";
import type { Condition } from "./condition.js";
import { congenital } from "./congenital.js";
import { digestive } from "./digestive.js";
import { genitourinary } from "./genitourinary.js";
import { infectious } from "./infectious.js";
import { injuries } from "./injuries.js";
import { mental } from "./mental.js";
import { metabolic } from "./metabolic.js";
import { musculoskeletal } from "./musculoskeletal.js";
import { neoplasms } from "./neoplasms.js";
import { nervous } from "./nervous.js";
import { pregnancy } from "./pregnancy.js";
import { respiratory } from "./respiratory.js";
import { senses } from "./senses.js";
import { skin } from "./skin.js";
import { symptoms } from "./symptoms.js";

export type { Condition } from "./condition.js";

/**
 * Rates are invented, of the order of those in claims. Nothing here is an estimate from anyone's
 * records. The order (by code) is the order in which a visit lists its companions.
 */
export const conditions: readonly Condition[] = [
	...infectious,
	...neoplasms,
	...metabolic,
	...blood,
	...mental,
	...nervous,
	...senses,
	...circulatory,
	...respiratory,
	...digestive,
	...genitourinary,
	...pregnancy,
	...skin,
	...musculoskeletal,
	...congenital,
	...symptoms,
	...injuries,
].sort((a, b) => (a.code < b.code ? -1 : 1));
