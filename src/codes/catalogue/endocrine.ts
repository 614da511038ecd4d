import type { Chapter } from "../rules.js";

/** Number and name | ICD-9-CM | ICD-10-CM. How the rules read: ../rules.ts. */
export const endocrine: Chapter = {
	category: "endocrine/metabolic",
	table: `
240 Simple and unspecified goiter | 240 | E01.0 E01.2 E04.0
241 Nontoxic nodular goiter | 241 | E01.1 E04
242 Thyrotoxicosis with or without goiter | 242 376.2-376.3 | E05 H05.2
244 Hypothyroidism | 243-244 | E00 E01.8 E02-E03 E89.0
245 Thyroiditis | 245 | E06
246 Other disorders of thyroid | 246 790.94 794.5 | E07 R94.6 R94.7
249 Secondary diabetes mellitus | 249 | E08-E09
250 Diabetes mellitus | 250 357.2 362.0 366.41 790.2 791.5-791.6 V45.85 V53.91 V58.67 V65.46
	| +E08.3 +E09.3 E10-E11 E13-E14 R73 R81 R82.4 Z46.81 Z79.4 Z96.41
251 Other disorders of pancreatic internal secretion | 251 | E15-E16
252 Disorders of parathyroid gland | 252 | E20-E21
253 Disorders of the pituitary gland and its hypothalamic control | 253 | E22-E23
254 Diseases of thymus gland | 254 | E32
255 Disorders of adrenal glands | 255 | E24-E27
256 Ovarian dysfunction | 256 | E28
257 Testicular dysfunction | 257 | E29
258 Endocrine disorders after a procedure | 251.3 253.7 256.2 257.1 | E23.1 E89.1-E89.3 E89.5-E89.6
259 Other endocrine disorders | 258-259 | E30-E31 E34-E35
260 Protein-calorie malnutrition | 260-263 783.0 783.22 783.7 799.4 V85.0
	| E40-E46 E64.0 R62.7 R63.0 R63.6 R64 Z68.1
261 Vitamin deficiency | 264-268 269.0-269.2 | E50-E56 E64.1-E64.3 M83
262 Mineral deficiency NEC | 269.3 | E58-E61
263 Other nutritional deficiency | 269.8-269.9 | E61.7-E61.9 E63 E64 +Z86.39
264 Lack of normal physiological development, unspecified | 783.4 V21 | R62
269 Proteinuria | 593.6 791.0 | R80
270 Disorders of protein plasma/amino-acid transport and metabolism | 270 273 277.3
	| C88.0 D47.2 D89.0-D89.2 E70-E72 E85 E88.0
271 Disorders of carbohydrate transport and metabolism | 271 277.5 | E73-E74 E76
272 Disorders of lipoid metabolism | 272 | E78
274 Gout and other crystal arthropathies | 274 712 | M10-M11 M1A
275 Disorders of mineral metabolism | 275 | E83
276 Disorders of fluid, electrolyte, and acid-base balance | 276 | E86-E87
277 Other disorders of metabolism | 272.6-272.8 277 783.9
	| E71.1-E71.5 E75.2-E75.3 E75.5-E75.6 E77 E78.7-E78.8 E79 E80 E88 R63.8 +Z86.39
278 Overweight, obesity and other hyperalimentation | 278 783.1 V85.2-V85.5
	| E65-E68 R63.5 Z68.25-Z68.29 Z68.3-Z68.4
279 Disorders involving the immune mechanism | 279 795.7 | D80-D84 D89 R76.0 R76.8-R76.9
`,
};
