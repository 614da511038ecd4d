import type { Chapter } from "../rules.js";
import { circulatory } from "./circulatory.js";
import { congenital } from "./congenital.js";
import { dermatologic } from "./dermatologic.js";
import { digestive } from "./digestive.js";
import { endocrine } from "./endocrine.js";
import { genitourinary } from "./genitourinary.js";
import { hematopoietic } from "./hematopoietic.js";
import { infectious } from "./infectious.js";
import { injuries } from "./injuries.js";
import { mental } from "./mental.js";
import { musculoskeletal } from "./musculoskeletal.js";
import { neoplasms } from "./neoplasms.js";
import { neurological } from "./neurological.js";
import { pregnancy } from "./pregnancy.js";
import { respiratory } from "./respiratory.js";
import { senseOrgans } from "./sense-organs.js";
import { symptoms } from "./symptoms.js";

/** In the order of the catalogue's own numbers. */
export const chapters: readonly Chapter[] = [
	infectious,
	neoplasms,
	endocrine,
	hematopoietic,
	mental,
	neurological,
	senseOrgans,
	circulatory,
	respiratory,
	digestive,
	genitourinary,
	pregnancy,
	dermatologic,
	musculoskeletal,
	congenital,
	symptoms,
	injuries,
];
