import type { Chapter } from "../rules.js";

/** Number and name | ICD-9-CM | ICD-10-CM. How the rules read: ../rules.ts. */
export const hematopoietic: Chapter = {
	category: "hematopoietic",
	table: `
280 Iron deficiency anemias | 280 | D50
281 Other deficiency anemia | 281 | D51-D53
282 Hereditary hemolytic anemias | 282 | D55-D58
283 Acquired hemolytic anemias | 283 | D59
284 Aplastic anemia | 284 | D60-D61
285 Other anemias | 285 790.0 791.2 | D62-D64 R71.0 R82.3
286 Coagulation defects | 286 289.81-289.82 649.3 666.3 790.92 V58.61 V83.01
	| D65-D68 O72.3 O99.1 R79.1 Z14.01 Z79.01
287 Purpura and other hemorrhagic conditions | 287 782.7 | D69 R23.3
288 Diseases of white blood cells | 288 | D70-D72 D76
289 Other diseases of blood and blood-forming organs | 289 683 785.6 | D73-D75 D77 I88 L04 R59
`,
};
