import type { Chapter } from "../rules.js";

/** Number and name | ICD-9-CM | ICD-10-CM. How the rules read: ../rules.ts. */
export const neurological: Chapter = {
	category: "neurological",
	table: `
320 Meningitis | 003.21 036.0 047 049.0-049.1 053.0 054.72 072.1 100.81 112.83 114.2 320-322
	| A02.21 A20.3 A39.0 A42.81 A87 B00.3 B01.0 B02.1 B26.1 B37.5 B38.4 B45.1 G00-G03
323 Encephalitis
	| 036.1 046.2 048-049 052.0 054.3 055.0 056.01 058.2 062-064 066.2 072.2 130.0 139.0 323 341.2
	| A39.81 A81.1 A83-A86 A89 A92.2 B00.4 B01.1 B02.0 B05.0 B06.01 B10.0 B26.2 B58.2 B94.1
	G04-G05 G37.3
324 Other CNS infection and poliomyelitis | 045-046 138 324 326 V12.02
	| A80-A81 A88 B91 G06-G07 G09 G14
325 Phlebitis and thrombophlebitis of intracranial venous sinuses | 325 437.6 | G08 I67.6
327 Sleep disorders | 307.4 327 780.5 | F51 G47
331 Other cerebral degenerations | 330-331 | E75.0-E75.1 E75.4 G31-G32 G91 G94
332 Parkinson's disease | 332 | G20
333 Extrapyramidal disease and abnormal movement disorders | 332.1 333 | G10 G21 G23-G26
334 Degenerative disease of the spinal cord | 334-336 | G11-G12 G32.0 G95 G99.2
335 Multiple sclerosis | 340 | G35
337 Disorders of the autonomic nervous system | 337 | G90 G99.0
338 Pain | 338 780.96 | G89 R52
339 Other headache syndromes | 339 | G44 R51
340 Migraine | 339.00-339.05 346 | G43 G44.0
341 Other demyelinating diseases of central nervous system | 341 | G36-G37
342 Hemiplegia | 342 | G81
343 Infantile cerebral palsy | 343 | G80
344 Other paralytic syndromes | 344 780.72 | G82-G83 R29.81 R53.2
345 Epilepsy, recurrent seizures, convulsions | 345 780.3 | G40 R56
346 Abnormal findings on study of brain and/or nervous system | 793.0 794.0-794.1
	| R90 R94.0-R94.1
347 Cataplexy and narcolepsy | 347 | G47.4
348 Other conditions of brain | 348 780.01 780.03 | G93 R40 S06.1
349 Other and unspecified disorders of the nervous system | 349 | G92 G96 G98
350 Abnormal movement | 781.0-781.4 | R25-R27 R29.0 R43
351 Other peripheral nerve disorders | 354-355 | G56-G59
352 Disorders of other cranial nerves | 350-352 | G50-G53
353 Nerve root and plexus disorders | 353 | G54-G55
355 Complex regional/central pain syndrome | 337.2 338.0 338.4 | G57.7 G89.0 G89.4 G90.5
356 Hereditary and idiopathic peripheral neuropathy | 356 | G60
357 Inflammatory and toxic neuropathy | 354.5 357 | G58.7 G61-G65 +M05.5
358 Myoneural disorders | 358 | G70 G73
359 Muscular dystrophies and other myopathies | 359 | G71-G72 +M05.4
`,
};
