import type { Chapter } from "../rules.js";

/** Number and name | ICD-9-CM | ICD-10-CM. How the rules read: ../rules.ts. */
export const mental: Chapter = {
	category: "mental disorders",
	table: `
290 Delirium dementia and amnestic and other cognitive disorders
	| 290 293.0-293.1 294 331.0-331.2 331.82 797
	| F01-F05 F06.8 G30 G31.0-G31.1 G31.83
291 Other specified nonpsychotic and/or transient mental disorders | 293 310 780.02 780.09
	| F06-F07 F09 F48.2
292 Neurological disorders | 331.83 780.1 780.93 780.97 784.3 784.5-784.6
	| G31.84 R41 R44 R47-R48
293 Symptoms involving head and neck | 784.2 | R22.0-R22.1
295 Schizophrenia and other psychotic disorders | 293.81-293.82 295 297-298 V11.0
	| F06.0-F06.2 F20 F22-F29
296 Mood disorders | 293.83 296 311 V11.1 | F06.3 F30-F34 F39
297 Suicidal ideation or attempt | V62.84 E950-E959 E980-E989
	| R45.851 T14.91 X71-X83 Y22-Y33 +T36-T65.??2 +T36-T65.?2X +T36-T50.??4S +T36-T50.?4XS 
300 Anxiety, phobic and dissociative disorders | 293.84 300 308 309.81 V11.2
	| F06.4 F34.1 F40-F43 R45.0-R45.4
301 Personality disorders | 301 | F21 F34.0 F60 F69
302 Sexual and gender identity disorders | 302 799.81 | F52 F64-F66 R37
303 Psychogenic and somatoform disorders | 300.1 300.6-300.8 306 307.8 | F44-F45 F48.1 F59 F68
304 Adjustment reaction | 309 | F43.2 F43.8-F43.9
305 Eating disorder | 307.1 307.5 | F50
306 Other mental disorder | 300.9 648.4 307.81 307.9 316 V11.8-V11.9 V40
	| F48 F54 F99 G44.20 O99.31 O99.34
312 Conduct disorders | 312 313.81 | F63 F91
313 Pervasive developmental disorders | 299 307.0 307.2 307.3 309.21 313-314 | F84 F90 F93-F95 F98
315 Developmental delays and disorders | 315 317-319 | F70-F79 F80-F82 F88-F89
316 Substance addiction and disorders | 292 304-305 648.3
	| F11-F16 F18-F19 F55 O99.32
317 Alcohol-related disorders | 291 303 305.0 357.5 535.3 571.0-571.3 790.3 980.0 V11.3
	| F10 G62.1 K29.2 K70 R78.0
318 Tobacco use disorder | 305.1 649.0 | F17 O99.33 Z72.0 Z87.891
`,
};
