import type { Chapter } from "./rules.js";

/**
 * The PheCodes at integer level, in the order of the catalogue's own numbers: number and name | ICD-9-CM | ICD-10-CM.
 * How the rules read: rules.ts.
 */
export const chapters: readonly Chapter[] = [
	{
		category: "infectious diseases",
		table: `
008 Intestinal infection | 001-009 021.1 022.2 078.82 | A00-A09 A21.3 A22.2
010 Tuberculosis | 010-018 137 V12.01 | A15-A19 B90 Z86.11
031 Diseases due to other mycobacteria | 030-031 | A30-A31 B92
038 Septicemia | 003.1 022.3 036.2 038 054.5 790.7
	| A02.1 A20.7 A22.7 A26.7 A32.7 A39.2-A39.4 A40-A41 A42.7 A54.86 B00.7 R78.81
041 Bacterial infection NOS | 020-027 032-034 036-037 039-041 073 078.3 390 392 V09 V12.04
	| A20-A26 A28 A32-A39 A42-A43 A48-A49 A70 B95-B96 B47.1 I00 I02 Z16 Z86.14
053 Herpes zoster | 053 | B02
054 Herpes simplex | 054 058 | A60 B00 B10
070 Viral hepatitis | 070 571.4 573.1-573.3 | B15-B19 K71 K73 K75.4 K75.9 K77
071 Human immunodeficiency virus [HIV] disease | 042-044 079.53 795.71 V08 | B20 B97.35 R75 Z21
078 Viral warts & HPV | 078.0-078.1 079.4 | A63.0 B07 B08.1 B97.7
079 Viral infection | 051-052 055-057 059-061 065-066 071-072 074-075 078-079 790.8
	| A82 A90-A99 B01 B03-B06 B08-B09 B25-B27 B33-B34 B97
080 Postoperative infection | 998.5 | K68.11 T81.4
081 Infection/inflammation of internal prosthetic device; implant; or graft
	| 279.5 996.6 999.3
	| D89.81 T80.2 T82.6 T82.7 T83.5 T83.6 T84.5-T84.7 T85.7
090 Sexually transmitted infections (not HIV or hepatitis) | 090-099
	| A50-A58 A63-A64
110 Dermatophytosis / Dermatomycosis | 110-111 | B35-B36
112 Candidiasis | 112 | B37
117 Mycoses | 114-118 | B38-B49
130 Spirochetal infection | 026.0 087 088.81 100-104 | A25.0 A27 A65-A69
131 Protozoan infection | 130-131 | A59 B58
132 Infestation (lice, mites) | 132-134 | B85-B89
133 Arthropod-borne diseases | 084-086 088 | A44 B50-B57 B60.0
134 Helminthiases | 120-129 | B65-B83
136 Other infectious and parasitic diseases | 080-083 136 139 V12.0 | A74-A77 A79 B60 B64 B94 B99
980 Encounter for long-term (current) use of antibiotics | V58.62 | Z79.2
`,
	},
	{
		category: "neoplasms",
		table: `
145 Cancer of mouth | 140-145 230.0 V10.01 V10.02 | C00-C08 D00.0 Z85.81
149 Cancer of larynx, pharynx, nasal cavities | 146-149 160-161 231.0 V10.21 V10.22
	| C09-C14 C30-C32 D02.0 Z85.21 Z85.22
150 Cancer of esophagus | 150 230.1 V10.03 | C15 D00.1 Z85.01
151 Cancer of stomach | 151 209.23 230.2 V10.04 | C16 C7A.092 D00.2 Z85.02
153 Colorectal cancer | 153-154 209.1 230.3-230.6 V10.05-V10.06
	| C18-C21 C7A.02 D01.0-D01.3 Z85.03-Z85.04
155 Cancer of liver and intrahepatic bile duct | 155 230.8 V10.07 | C22 D01.5 Z85.05
157 Pancreatic cancer | 157 | C25 Z85.07
158 Neoplasm of unspecified nature of digestive system | 235.2-235.3 239.0 | D37.1-D37.9 D49.0
159 Cancer of other digestive organs and peritoneum
	| 152 156 158 159 209.0 230.7 230.9 V10.00 V10.09
	| C17 C23-C24 C26 C45.1 C48 C7A.01 D01.4 D01.7 D01.9 Z85.00 Z85.06 Z85.09
164 Cancer of intrathoracic organs | 164 209.22 | C37-C38 C45.2 C7A.091
165 Cancer within the respiratory system | 162-163 165 209.21 231.1-231.9 239.1 V10.1 V10.2
	| C33-C34 C38.4 C39 C45.0 C7A.090 D02.1-D02.4 D49.1 Z85.1 Z85.2
170 Cancer of bone and connective tissue | 170-171 V10.81 | C40-C41 C47 C49 Z85.83
172 Skin cancer | 172-173 209.31-209.36 232 V10.82-V10.83 | C43-C44 C4A D03-D04 Z85.82
173 Neoplasm of uncertain behavior of skin | 238.2 | D48.5
174 Breast cancer | 174-175 233.0 238.3 239.3 V10.3 | C50 D05 D48.6 D49.3 Z85.3
175 Acquired absence of breast | 612 V45.71 V51.0 | N65 Z42.1 Z90.1
180 Cervical cancer and dysplasia | 180 233.1 622.1 V10.41 | C53 D06 N87 Z85.41
182 Malignant neoplasm of uterus | 179 182 233.2 V10.42 | C54-C55 D07.0 Z85.42
184 Cancer of other female genital organs | 181 183-184 233.3 236.0-236.3 V10.40 V10.43-V10.44
	| C51-C52 C56-C58 D07.1-D07.3 D39 Z85.40 Z85.43-Z85.44
185 Cancer of prostate | 185 233.4 V10.46 | C61 D07.5 Z85.46
187 Cancer of other male genital organs | 186-187 233.5-233.6 236.4 236.6 V10.45 V10.47-V10.49
	| C60 C62-C63 D07.4 D07.6 D40.1-D40.9 Z85.45 Z85.47-Z85.49
189 Cancer of urinary organs (incl. kidney and bladder) | 188-189 209.24 233.7-233.9 V10.5
	| C64-C68 C7A.093 D09.0-D09.1 Z85.5
190 Cancer of eye | 190 234.0 V10.84 | C69 D09.2 Z85.840
191 Malignant and unknown neoplasms of brain and nervous system
	| 191-192 237.5-237.6 239.6 V10.85-V10.86 | C70-C72 D42-D43 D49.6 Z85.841 Z85.848
193 Thyroid cancer | 193 V10.87 | C73 Z85.850
194 Cancer of other endocrine glands | 194 V10.88 | C74-C75 D09.3 Z85.858
195 Cancer, suspected or other | 195 199 209.2-209.3 234 338.3 V10.8 V10.9 V71.1
	| C45.7 C45.9 C76 C7A C80 D09.8-D09.9 G89.3 Z85.8 Z85.9
196 Radiotherapy | V58.0 V66.1 V67.1 | Z51.0
197 Chemotherapy | V58.1 V66.2 V67.2 V87.41 | Z51.1 Z92.21
198 Secondary malignant neoplasm | 196-198 209.7 511.81 789.51 | C77-C79 C7B J91.0 R18.0
199 Neoplasm of uncertain behavior | 235-239 | D37-D38 D40-D41 D44 D48 D49 Q85.0
200 Myeloproliferative disease | 238.4-238.7 | C94.4 C94.6 D45-D47
201 Hodgkin's disease | 201 V10.72 | C81 Z85.71
202 Cancer of other lymphoid, histiocytic tissue | 200 202 V10.7 | C82-C88 C96 Z85.7
204 Leukemia | 202.4 203-208 V10.6 | C90-C95 Z85.6
208 Benign neoplasm of colon | 209.5 211.3 211.4 V12.72 | D12 D3A.02 K63.5 Z86.010
209 Neuroendocrine tumors | 209 V10.91 | D3A Z85.020 Z85.030 Z85.040 Z85.060 Z85.110
210 Benign neoplasm of lip, oral cavity, and pharynx | 210 | D10-D11
211 Benign neoplasm of other parts of digestive system | 211 | D13 D19.1
212 Benign neoplasm of respiratory and intrathoracic organs | 212 | D14-D15 D19.0
213 Benign neoplasm of bone and articular cartilage | 213 | D16
214 Lipoma | 214 | D17
215 Other benign neoplasm of connective and other soft tissue | 215 | D20-D21 D36.1
216 Benign neoplasm of skin | 216 | D22-D23
217 Vascular hamartomas and non-neoplastic nevi | 448.1 757.32 | I78.1
218 Benign neoplasm of uterus | 218-219 | D25-D26
220 Benign neoplasm of ovary | 220 | D27
221 Benign neoplasm of other female genital organs | 221 | D28
222 Benign neoplasm of male genital organs | 222 | D29
223 Benign neoplasm of kidney and other urinary organs | 223 | D30
224 Benign neoplasm of eye | 224 | D31
225 Benign neoplasm of brain and other parts of nervous system | 225 | D32-D33
226 Benign neoplasm of thyroid glands | 226 | D34
227 Benign neoplasm of other endocrine glands and related structures | 227 | D35
228 Hemangioma and lymphangioma, any site | 228 | D18
229 Benign neoplasm of unspecified sites | 229 | D19 D36
230 Kaposi's sarcoma | 176 | C46
860 Bone marrow or stem cell transplant | 996.85 V42.8 | T86.0 T86.5 Z94.8
`,
	},
	{
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
	},
	{
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
	},
	{
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
	},
	{
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
	},
	{
		category: "sense organs",
		table: `
360 Disorders of the globe | 360 V43.0 | H44 Z97.0
361 Retinal detachments and defects | 361 | H33
362 Other retinal disorders | 362 | H34-H36
363 Chorioretinal inflammations, scars, and other disorders of choroid | 363 | H31-H32
364 Corneal opacity and other disorders of cornea | 371 V42.5 | H17-H18 Z94.7
365 Glaucoma | 365 | H40 H42
366 Cataract | 366 V43.1 V45.61
	| +E10.36 +E11.36 +E13.36 H25-H26 H28 H59.02 Z96.1 Z98.4
367 Disorders of refraction and accommodation; blindness and low vision | 367 369 | H52 H54
368 Visual disturbances | 367.5 367.8 368 V41.0 | H52.5-H52.6 H53
369 Infection of the eye
	| 021.3 032.81 053.2 054.4 076-077 130.1 139.1 372.0 372.2 372.30 372.33 372.39 373.4-373.6
	375.3-375.4
	376.0
	| A21.1 A36.86 A71 A74.0 B00.5 B02.3 B30 B58.0 B94.0 H04.3-H04.4 H05.0 H10 H59.4
370 Keratitis | 055.71 370 | B05.81 H16
371 Inflammation of the eye
	| 130.2 360.0-360.1 363.0-363.2 364 372.1 372.3 373 376.1
	| H00-H01 H05.1 H10.4 H20 H22 H30 H44.0-H44.1
372 Disorders of conjunctiva | 372 | H10.8 H11 H13
374 Other disorders of eyelids | 374 | H02-H03
375 Disorders of lacrimal system | 375 | H04
376 Disorders of the orbit | 376 | H05-H06
377 Disorders of optic nerve and visual pathways | 377 | H46-H48
378 Strabismus and other disorders of binocular eye movements | 378 379.5 | H49-H51 H55
379 Other disorders of eye | 364.4-364.9 379 V41.1
	| H15 H19 H21 H27 H43 H57
380 Disorders of external ear | 380 | H60-H62
381 Otitis media and Eustachian tube disorders | 055.2 381-383 388.6
	| B05.3 H65-H70 H75 H92 H95.0-H95.1
382 Otalgia | 388.7 | H92.0
383 Otosclerosis | 387 | H80
384 Other disorders of tympanic membrane | 384 | H72-H73
385 Other disorders of middle ear and mastoid | 385 | H71 H74
386 Vertiginous syndromes and other disorders of vestibular system | 078.81 386 780.4
	| A88.1 H81-H83 R42
388 Other disorders of ear | 388.8-388.9 V41.3 | H93.8-H93.9 H94
389 Hearing loss | 388-389 V41.2 V53.2 | H90-H91 H93 Z45.3 Z46.1
`,
	},
	{
		category: "circulatory system",
		table: `
394 Rheumatic disease of the heart valves | 391 392.0 394-398 | I01 I02.0 I05-I09
395 Heart valve disorders | 424 V42.2 V43.3 | I34-I37 I39 Z95.2-Z95.4
396 Abnormal heart sounds | 785.2-785.3 | R01
401 Hypertension | 401-405 997.91 | I10-I16
402 Elevated blood pressure reading without diagnosis of hypertension | 796.2 | R03.0
411 Ischemic Heart Disease | 410-414 429.7 V45.81-V45.82 | I20-I25 Z95.1 Z95.5 Z98.61
414 Other forms of chronic heart disease | 429.1-429.2 429.5-429.6 429.8-429.9 | I51 I52
415 Pulmonary heart disease | 415-417 V12.55 | I26-I28 Z86.711
416 Cardiomegaly | 429.3 | I51.7
418 Nonspecific chest pain | 786.5 | R07
420 Carditis
	| 032.82 036.4 074.2 112.81 130.3 391.0-391.2 393 398.0 420-423 424.9 429.0
	| A36.81 A39.5 B33.2 B37.6 B58.81 I01.0-I01.2 I09.0 I09.2 I30-I33 I38 I40-I41 I51.4
425 Cardiomyopathy | 425 429.83 | I42-I43 I51.81
426 Cardiac conduction disorders | 426 794.31 996.01 996.04 V45.0 V53.3
	| I44-I45 R94.31 T82.11 T82.12 T82.19 Z45.0 Z95.0 Z95.8
427 Cardiac dysrhythmias | 427 785.0-785.1 V12.53 | I46-I49 R00 Z86.74
428 Congestive heart failure; nonhypertensive | 398.91 428 | I09.81 I50
429 Ill-defined descriptions and complications of heart disease | 429 794.3 996.83 997.1 V15.1 V42.1
	| I97.0-I97.1 I97.7-I97.8 R94.3 T86.2-T86.3 Z94.1
430 Intracranial hemorrhage | 430-432 | I60-I62
433 Cerebrovascular disease | 346.6 433-438 V12.54 | G45-G46 I63-I69 Z86.73
440 Atherosclerosis | 440 | I70
441 Vascular insufficiency of intestine | 557 | K55
442 Other aneurysm | 441-442 443.2 | I71-I72 I77.7
443 Peripheral vascular disease | 443 | +E10.51-E10.52 +E11.51-E11.52 +E13.51-E13.52 I73
444 Arterial embolism and thrombosis | 444-445 | I74-I75
446 Polyarteritis nodosa and allied conditions | 136.1 443.1 446 | I73.1 M30-M31 M35.2
447 Other disorders of arteries and arterioles | 447 | I77 I79
448 Disease of capillaries | 448 | I78
450 Noninfectious disorders of lymphatic channels | 457 757.0 | I89 I97.2 Q82.0
451 Phlebitis and thrombophlebitis | 451 V12.52 | I80
452 Other venous embolism and thrombosis | 415.11 452-453 459.1 V12.51 | I81-I82 I87.0 Z86.718
453 Chronic venous hypertension | 459.3 | I87.3
454 Varicose veins | 454 456.3-456.8 | I83 I86
455 Hemorrhoids | 455 | I84 K64
456 Chronic venous insufficiency [CVI] | 459.81 | I87.2
457 Encounter for long-term (current) use of antiplatelets, aspirin or NSAIDs | V58.63-V58.64 V58.66
	| Z79.02 Z79.1 Z79.82
458 Hypotension | 458 796.3 | I95 R03.1
459 Other disorders of circulatory system | 459 785.9 V12.5 V43.4 | I87 I99 R09.89 Z95.82
`,
	},
	{
		category: "respiratory",
		table: `
464 Acute sinusitis | 461 | J01
465 Acute upper respiratory infections of multiple or unspecified sites
	| 032.0-032.3 034.0 460 462 464-465 | A36.0-A36.2 J00 J02 J04-J06
470 Septal Deviations/Turbinate Hypertrophy | 470 478.0 | J34.2-J34.3
471 Nasal polyps | 471 | J33
472 Chronic pharyngitis and nasopharyngitis | 472 | J31
473 Diseases of the larynx and vocal cords | 476 478.3-478.7 784.4 V41.4 | J37-J38 R49
474 Acute and chronic tonsillitis | 463 474-475 | J03 J35-J36
475 Chronic sinusitis | 473 | J32
476 Allergic rhinitis | 477 | J30
477 Epistaxis or throat hemorrhage | 784.7-784.8 | R04.0-R04.1
478 Throat pain | 784.1 | R07.0
479 Other upper respiratory disease | 478 519.1 786.1 784.91 784.99
	| J34 J39 J98.0 R06.1 R09.81-R09.82
480 Pneumonia
	| 003.22 020.3-020.5 021.2 022.1 031.0 039.1 052.1 055.1 073.0 083.0 112.4 114.0 114.4-114.5
	130.4 136.3 480-486 513 V12.61
	| A02.22 A20.2 A21.2 A22.1 A31.0 A42.0 A43.0 A48.1 A78 B01.2 B05.2 B37.1 B38.0-B38.2 B58.3
	B59 J12-J18 J85 Z87.01
481 Influenza | 487-488 | J09-J11
483 Acute bronchitis and bronchiolitis | 466 | J20-J21
495 Asthma | 493 | J45
496 Chronic airway obstruction | 491-492 494 496 | J41-J44 J47
497 Bronchitis | 490 | J40
498 Acute bronchospasm | 519.11 | J98.01
499 Cystic fibrosis | 277.0 | E84
500 Lung disease due to external agents | 495 500-506 507 508 | J60-J68 J69 J70
501 Pneumonitis due to inhalation of food or vomitus | 507.0 | J69.0
502 Postinflammatory pulmonary fibrosis | 515 | J84.10 J84.17
503 Pulmonary congestion and hypostasis | 514 | J81.1
504 Other alveolar and parietoalveolar pneumonopathy | 516 518.6 | B44.81 J84
505 Other pulmonary inflamation or edema | 518.3-518.4 | J81-J82
506 Empyema and pneumothorax | 510 512 | J86 J93 J95.811
507 Pleurisy; pleural effusion | 511 | J90-J92 J94 R09.1
508 Pulmonary collapse; interstitial and compensatory emphysema | 518.0-518.2 | J98.1-J98.3
509 Respiratory failure, insufficiency, arrest | 518.5 518.8 799.1 V46.1-V46.2
	| J80 J95.1-J95.3 J95.82 J96 R09.2 Z99.1 Z99.81
510 Other diseases of lung | 517 518.89 996.84 V42.6 | J99 T86.81 Z94.2
512 Other symptoms of respiratory system | 786 786.05 786.07 786.09 786.52
	| R05 R06.0 R06.2 R07.1 R09
513 Respiratory abnormalities | 786.0 786.8 | R06
514 Abnormal findings examination of lungs | 793.1 794.2 | R91 R94.2
516 Abnormal sputum | 786.3-786.4 | R04.2-R04.9 R09.3
519 Other diseases of respiratory system, not elsewhere classified | 519 997.3 V12.6 | J95 J98
`,
	},
	{
		category: "digestive",
		table: `
520 Disorders of tooth development | 520 | K00-K01
521 Diseases of hard tissues of teeth | 521 | K02-K03
522 Diseases of pulp and periapical tissues | 522 | K04
523 Gingival and periodontal diseases | 523 | K05-K06
524 Dentofacial anomalies, including malocclusion | 524 | M26
525 Other diseases of the teeth and supporting structures | 525 | K08
526 Diseases of the jaws | 524.0-524.1 524.6 526 784.92 | K09 M26.0-M26.1 M26.6 M27 R68.84
527 Diseases of the salivary glands | 527 | K11 R68.2
528 Diseases of the oral soft tissues, excluding lesions specific for gingiva and tongue | 528
	| K12-K13
529 Diseases and other conditions of the tongue | 529 | K14
530 Diseases of esophagus | 456.0-456.2 530 787.1 | I85 K20-K23 R12
531 Peptic ulcer (excl. esophageal) | 531-534 V12.71 | K25-K28 Z87.11
532 Dysphagia | 787.2 | R13
535 Gastritis and duodenitis | 535 | K29
536 Disorders of function of stomach | 536 | K30 K31.0 K94.2
537 Other disorders of stomach and duodenum | 537 | K31
539 Bariatric surgery | 539 649.2 V45.86 | K95 O99.84 Z98.84
540 Appendiceal conditions | 540-543 | K35-K38
550 Abdominal hernia | 550-553 | K40-K46
555 Inflammatory bowel disease and other gastroenteritis and colitis | 555-556 | K50-K51
556 Ulceration and angiodysplasia of the lower GI tract | 569.82 569.84-569.85 | K55.2 K63.3
557 Intestinal malabsorption (non-celiac) | 579 | K90 K91.2
558 Noninfectious gastroenteritis | 558 | K52
559 Ileostomy status | V44.2 V55.2 | Z93.2 Z43.2
560 Intestinal obstruction without mention of hernia | 560 | +K50.?12 +K51.?12 K56
561 Symptoms involving digestive system | 787 | R14-R15 R19
562 Diverticulosis and diverticulitis | 562 | K57
563 Constipation | | K59.0
564 Functional digestive disorders | 564 | K58-K59 Z87.19
565 Anal and rectal conditions | 564.6 565-566 569.0-569.2 569.4 | K59.4 K60-K62
567 Peritonitis and retroperitoneal infections | 032.83 567 | +K50.?14 +K51.?14 K65 K67-K68
568 Other disorders of peritoneum | 568 | K66
569 Other disorders of intestine | 558.2 564.2-564.4 569 997.4
	| +K50.?13 +K51.?13 K52.1 K63 K91 K92
571 Chronic liver disease and cirrhosis | 571-572
	| K72 +K72.01 K74 K75 K76.0 K76.6-K76.7
572 Ascites (non malignant) | 789.5 | R18
573 Other disorders of liver | 570 573 782.4 789.1 790.4-790.5 791.4 794.8 996.82 V42.7
	| K72.0 K72.01 K76 R16.0 R17 R74 R94.5 T86.4 Z94.4
574 Cholelithiasis and cholecystitis | 574 575.0-575.1 | K80-K81
575 Other biliary tract disease | 575-576 | +K80.3 K82-K83 K87
577 Diseases of pancreas | 577 | K85-K86
578 Gastrointestinal hemorrhage | 569.3 578
	| K62.5 K92.0-K92.2
579 Other symptoms involving abdomen and pelvis | 789 | R16.1-R16.2 R19.0 R19.3
`,
	},
	{
		category: "genitourinary",
		table: `
580 Nephritis; nephrosis; renal sclerosis | 580-583 587 V13.03
	| +E08.2 +E09.2 N00-N08 N14-N16 N26 Z87.441
585 Renal failure | 584-586 996.73 E879.1 V45.1 V56 | N17-N19 T82.8?8 Z49 Z91.15 Z99.2
586 Other disorders of the kidney and ureters | 589 593 | N13.5 N13.7 N27-N29
587 Kidney replaced by transplant | 996.81 V42.0 | T86.1 Z94.0
588 Disorders resulting from impaired renal function | 588 | N25
589 Abnormal results of function study of kidney | 794.4 | R94.4
590 Pyelonephritis | 590 | N10-N12 N13.6
591 Urinary tract infection | 599.0 V13.02 | N39.0 Z87.440
592 Cystitis and urethritis | 032.84 595 597 | A36.85 N30 N34
593 Hematuria | 599.7 | R31
594 Urinary calculus | 592 594 788.0 V13.01 | N20-N23 Z87.442
595 Hydronephrosis | 591 | N13
596 Other disorders of bladder | 344.61 596 | N31-N33
597 Other disorders of urethra and urinary tract | 598 599.1-599.5 599.8 | N35-N37 N99.1
598 Abnormal findings on examination of urine | 791 | R82
599 Other symptoms/disorders of the urinary system | 599 788 V13.0 V44.5-V44.6 V55.5-V55.6
	| N39 R30 R32-R36 R39 Z93.5-Z93.6
600 Hyperplasia of prostate | 600 | N40
601 Inflammatory diseases of prostate and male genital organs | 601 604 607.1-607.2 608.0 608.4
	| N41 N45 N48.1-N48.2 N49
602 Other disorders of prostate | 602 | N42
603 Other disorders of testis | 603 608.1-608.3 | N43-N44
604 Disorders of penis | 605 607 | N47-N48
605 Erectile dysfunction [ED] | 607.84 | N52
608 Other disorders of male genital organs | 608 | N50-N51 N53
609 Male infertility and abnormal spermatozoa | 606 792.2 | N46 R86
610 Benign mammary dysplasias | 217 610 | D24 N60
611 Lump or mass in breast; abnormal mammogram | 611.72 793.8 | N63 R92
612 Hypertrophy of breast; galactorrhea | 611.1 611.6 676.6 | N62 N64.3
613 Other nonmalignant breast conditions | 611 | N61 N64
614 Inflammatory diseases of female pelvic organs | 614-616 | N70-N77
615 Endometriosis | 617 | N80
617 Fistula involving female genital tract | | N82
618 Genital prolapse | 618 | N81
619 Noninflammatory female genital disorders | 620-624 629 654.0 654.3-654.4 654.6-654.8 665.2
	| N83 N85-N86 N88-N90 O34.0 O34.4-O34.9
620 Dysplasia of female genital organs | 623.0 624.01-624.02 | N89.0-N89.3 N90.0-N90.3
621 Endometrial hyperplasia | 621.3 | N85.0
622 Polyp of female genital organs | 621.0 622.7 623.7 624.6 | N84
623 Hypertrophy of female genital organs | 621.2 622.6 624.2-624.3 | N85.2 N88.4 N90.6
624 Symptoms involving female genital tract | 623.5 623.9 624.8-624.9 625.6
	| N39.3 N89.8-N89.9 N90.8-N90.9
625 Pain and other symptoms associated with female genital organs | 625 | N94
626 Disorders of menstruation and other abnormal bleeding from female genital tract
	| 625.3-625.4 626 628 | N91-N93 N94.3-N94.6 N97
627 Menopausal and postmenopausal disorders | 256.3 627 V49.81 | E28.3 E89.4 N95 Z78.0
628 Ovarian cyst | 620.0-620.2 | N83.0-N83.2
792 Abnormal Papanicolaou smear of cervix and cervical HPV | 795.0-795.1
	| R87.61-R87.62 R87.81-R87.82
796 Elevated prostate specific antigen [PSA] | 790.93 | R97.2
`,
	},
	{
		category: "pregnancy complications",
		table: `
634 Miscarriage; stillbirth | 630-638 646.3 656.4 V27.1 V27.4 V27.7 V32 V35
	| N96 O00-O07 O31.0 O36.4 P95 Z33.2 Z37.1
635 Hemorrhage during pregnancy; childbirth and postpartum | 641 656.0 665.0-665.1 666
	| O43.0 O44-O46 O67 O72
636 Early or threatened labor; hemorrhage in early pregnancy | 640 644 649.5 649.7 654.5
	| O20 O26.85-O26.87 O34.3 O47 O60
637 Short gestation; low birth weight; and fetal growth retardation | | P05 P07
638 Other high-risk pregnancy | | O09
639 Complications following abortion and ectopic and molar pregnancies | | O08
642 Hypertension complicating pregnancy, childbirth, and the puerperium | 642 | O10-O11 O13-O16
643 Excessive vomiting in pregnancy | 643 | O21
644 Anemia during pregnancy | 648.2 | O99.0
645 Late pregnancy and failed induction | | O48 O61 P08.2
646 Other complications of pregnancy NEC | 646 | O12 O26 O29
647 Infectious and parasitic complications affecting pregnancy | 646.5-646.6 647 659.3 670 675
	| O23 O85-O86 O91 O98
649 Diabetes and other conditions of the mother complicating pregnancy | 648-649
	| O24-O25 O26.84 O99 O9A
650 Normal delivery | | O80 Z37
651 Multiple gestation | V91 | O30-O31 Z37.2-Z37.7 Z38
652 Malposition and malpresentation of fetus or obstruction | | O32-O33 O64-O66
653 Problems associated with amniotic cavity and membranes | 657-658 | O40-O42
654 Other conditions or status of the mother complicating pregnancy, childbirth, or the puerperium
	| 654 | O34
655 Known or suspected fetal abnormality affecting management of mother | 655-656 659 678
	| O35-O36 O43
656 Other perinatal conditions of fetus or newborn | 770 772-779 | O28 P08 P19-P29 P50-P94 P96
657 Infections specific to the perinatal period | 771 | P35-P39
658 Maternal complication of pregnancy affecting fetus or newborn | | P00-P04
661 Fetal distress and abnormal forces of labor | | O62-O63 O68 O76-O77
663 Umbilical cord complications during labor and delivery | | O69
665 Obstetrical/birth trauma | | O70-O71 P10-P15
668 Complications of the administration of anesthetic in labor and delivery | | O74 O89
669 Complications of labor and delivery NEC | 667 669 674.1-674.2 | O73 O75 O82
671 Venous/cerebrovascular complications & embolism in pregnancy and the puerperium
	| 671 673 674.0 | O22 O87-O88
674 Other and unspecified complications of the puerperium | 674 | O90
676 Other disorders of the breast associated with childbirth and disorders of lactation | 676 | O92
679 Complications of in utero procedures | | O35.7
`,
	},
	{
		category: "dermatologic",
		table: `
681 Superficial cellulitis and abscess | 681-682 | L02-L03
686 Other local infections of skin and subcutaneous tissue
	| 021.0 022.0 031.1 032.85 035 039.0 680 684-686
	| A21.0 A22.0 A31.1 A36.3 A43.1 A46 L00-L01 L02.?2 L02.?3 L05 L08
687 Symptoms affecting skin | 782 | R20-R23
689 Disorder of skin and subcutaneous tissue NOS | 709 V13.3 | L98-L99 Z87.2
690 Erythematosquamous dermatosis | 690 | L21
691 Congenital anomalies of skin | 757.1 757.3 | Q80-Q82
694 Dyschromia and Vitiligo | 709.0 | L80-L81
695 Erythematous conditions | 694-695 697 373.34 698.2-698.3 710.0
	| L10-L14 L26 L28 L30.4 L43-L44 L51-L54 H01.12 L49 L71 L93 M32
696 Psoriasis and related disorders | 696 | L40-L42
697 Sarcoidosis | 135 | D86
698 Pruritus and related conditions | 698 | L29
700 Corns and callosities | 700 | L84
701 Other hypertrophic and atrophic conditions of skin | 701 709.2 | L83 L85-L87 L90-L92 L94
702 Degenerative skin conditions and other dermatoses | 702 | L57 L82
703 Diseases of nail, NOS | 703 | L60
704 Diseases of hair and hair follicles | 704 | L63-L68 L73
705 Disorders of sweat glands | 705 780.8 | L74-L75 R61
706 Diseases of sebaceous glands | 706 | L70 L72 L85.3
707 Chronic ulcer of skin | 707 | +I70.?3 +I70.?4 +I70.?5 L89 L97 L98.4
709 Diffuse diseases of connective tissue | 710 | M33-M36
931 Contact dermatitis and other eczema due to plants [except food] | 692.6 | L23.7 L24.7 L25.5
938 Dermatitis due to solar radiation | 692.7 | L55-L56 L57.1-L57.9
939 Atopic/contact dermatitis due to other or unspecified | 373.32 691-693
	| H01.11 L20 L22-L25 L27 L30
947 Urticaria | 708 | L50
`,
	},
	{
		category: "musculoskeletal",
		table: `
710 Osteomyelitis, periostitis, and other infections involving bone | 003.24 730
	| A02.24 M46.2-M46.3 M86 M89.6 M90
711 Arthropathy associated with infections | 003.23 036.82 056.71 099.3 711
	| A02.23 A39.83-A39.84 B06.82 M00-M02
712 Infective connective tissue disorders | 728.0 728.86 | M60.0 M72.6
713 Arthropathy associated with other disorders classified elsewhere | 713 | M02.0 M02.2 M07 M14
714 Rheumatoid arthritis and other inflammatory polyarthropathies | 714 | M05-M06 M08 M12.0
715 Other inflammatory spondylopathies | 720 | M45-M46 M49
716 Other arthropathies | 716 719.3 | M12-M13
717 Polymyalgia Rheumatica | 725 | M31.5 M35.3
720 Spinal stenosis | 723.0 724.0 | M48.0 M99.2-M99.7
721 Spondylosis and allied disorders | 721 | M47-M48
722 Intervertebral disc disorders | 722 | M46.4 M50-M51 M96.1
723 Other disorders of cervical region | 723 | M43.6
724 Other unspecified back disorders | 724 | M53
726 Peripheral enthesopathies and allied syndromes | 726 | M25.7 M70 M75-M77
727 Other disorders of synovium, tendon, and bursa | 727 | M65-M68 M71
728 Disorders of muscle, ligament, and fascia | 728 729.4 | M24.2 M60-M63 M72
729 Other disorders of soft tissues | 729 | M70.8-M70.9 M79
731 Osteitis deformans and osteopathies associated with other disorders | 731
	| M88 M89.4 M89.7 M90.6 M90.8
732 Osteochondropathies | 732 | M42 M91-M93
733 Other disorders of bone and cartilage | 733 | M84-M85 M87 M89 M90.5 M94
	S?2.???K S?2.???M S?2.???N S?2.???P S?2.???Q S?2.???R S?9.???K S?9.???P
	M80.???K M80.???P M84.???K M84.???P
735 Acquired foot deformities | 734-735 736.7 | M20.1-M20.6 M21.37 M21.4 M21.6
736 Other acquired deformities of limbs | 736 | M20-M21
737 Curvature of spine | 737 | M40-M41 M96.2-M96.5
738 Other acquired musculoskeletal deformity | 738 | M43 M95
739 Contracture of joint | 718.4 | M24.5
740 Osteoarthrosis | 715 | M15-M19
741 Symptoms and disorders of the joints | 718.5 719 | M12.2 M24.6 M25
742 Derangement of joint, non-traumatic | 718 | M22.0-M22.1 M24 M25.2-M25.3 M43.3-M43.5 M53.2
743 Osteoporosis, osteopenia and pathological fracture
	| 733.0-733.1 733.90 733.93-733.98 V13.51-V13.52 V54.2
	| M48.4-M48.5 M80-M81 M84.3-M84.6 Z87.31
745 Pain in joint | 719.4 | M25.5
`,
	},
	{
		category: "congenital anomalies",
		table: `
747 Cardiac and circulatory congenital anomalies | 745-747 V13.65 | Q20-Q28 Z87.74
748 Anomalies of respiratory system, congenital | 748 V13.66 | Q31-Q34 Z87.75
749 Congenital anomalies of face and neck | 743.6 744 748.0-748.1 749 754.0 756.0 V13.64
	| Q10 Q16-Q18 Q30 Q35-Q37 Q67.0-Q67.4 Q75 Z87.730 Z87.790
750 Digestive congenital anomalies | 750-751 V13.67 | Q38-Q45 Z87.738
751 Genitourinary congenital anomalies | 752-753 V13.61-V13.62 | Q50-Q56 Q60-Q64 Z87.71
752 Nervous system congenital anomalies | 740-742 V13.63 | Q00-Q07 Z87.728
753 Congenital anomalies of the eye | 743 | Q11-Q15
754 Congenital musculoskeletal deformities of spine | 754.2 756.1 | Q67.5 Q76.0-Q76.4
755 Congenital anomalies of limbs | 754.3-754.7 755 | Q65-Q66 Q68.1-Q68.6 Q69-Q74
756 Other congenital musculoskeletal anomalies | 754 756 V13.68 | Q67-Q68 Q76-Q79 Z87.76
757 Congenital anomalies of the integument | 757 | Q83-Q84
758 Chromosomal anomalies and genetic disorders | 758 | Q90-Q99
759 Other and unspecified congenital anomalies | 759 | Q85-Q89
`,
	},
	{
		category: "symptoms",
		table: `
760 Back pain | 724.1-724.2 724.5 | M54 M54.5-M54.6 M54.8-M54.9
761 Cervicalgia | 723.1 | M54.2
763 Thoracic or lumbosacral neuritis or radiculitis | 724.4 | M54.14-M54.17
764 Sciatica | 724.3 | M54.3-M54.4
765 Cervical radiculitis | 723.4 | M54.11-M54.13
766 Neuralgia, neuritis, and radiculitis NOS | 729.2 | M54.1 M79.2
767 Cervicocranial and cervicobrachial syndromes | 723.2-723.3 | M53.0-M53.1
769 Nonallopathic lesions NEC | 739 | M99
770 Myalgia and myositis unspecified | 729.0-729.1 | M60.8-M60.9 M79.0-M79.1 M79.7
771 Musculoskeletal symptoms referable to limbs | 729.8 | +M79.89 R25.2
772 Symptoms of the muscles | 728.85 728.87-728.89 781.94 | M62.4-M62.9
773 Pain in limb | | M79.6
780 Hypothermia and chills | 780.64-780.65 | R68.0
781 Symptoms involving nervous and musculoskeletal systems | 781 | R29
782 Symptoms involving skin and other integumentary tissue: edema | 782.3 | R60
783 Fever of unknown origin | 780.6 | R50
785 Abdominal pain | 789.0 789.6 | R10
788 Syncope and collapse | 780.2 | R55
789 Nausea and vomiting | 787.0 | R11
790 Nonspecific findings on examination of blood | 790 | R70-R72 R77 R78-R79 E79.0
791 Gangrene | 785.4 | +E10.52 +E11.52 +E13.52 +I70.?6 I96
793 Nonspecific abnormal findings on radiological examination | 793 | R93
794 Other nonspecific abnormal findings | 793.9 | R93.8
795 Abnormal cytological, histological and immunological findings; tumor markers | 795 | R97
797 Shock | 785.5 | R57
798 Malaise and fatigue | 780.7 | R53-R54
`,
	},
	{
		category: "injuries & poisonings",
		table: `
800 Fracture of lower limb | 820-823 827 905.3-905.4 V54.13-V54.16
	| S72 S79.0-S79.1 S82 S89.0 S89.2
	S82.???D S82.???E S82.???F S82.???G S82.???H S82.???J S82.???S
	S89.0-S89.3??D S89.0-S89.3??G S89.0-S89.3??S S92.???D S92.???G S92.???S
	S32.3-S32.6??D S32.3-S32.6??G
801 Fracture of ankle and foot | 824-826
	| S82.30 S82.39 S82.5-S82.6 S82.84 S82.85 S82.87 S82.89 S89.1 S89.3 S92 S99.0-S99.2
802 Fracture of pelvis | 808 | S32.3-S32.9
803 Fracture of upper limb | 810-813 818-819 905.2 V54.10-V54.12
	| S42 S49.0-S49.1 S52 S59.0-S59.2 S62.???D S62.???G S62.???S
804 Fracture of hand or wrist | 814-817 | S62
805 Fracture of vertebral column | 805-806 905.1 V54.17 | S12 S22.0 S22.2-S22.9??S S32.0-S32.2 S32.3-S32.9??S
807 Fracture of ribs | 807 | S22
809 Fracture of unspecified bones | 809 828-829 905.5 V54.19
	| S02.???D S02.???G S22.2-S22.9??D S22.2-S22.9??G S32.7-S32.9??D S32.7-S32.9??G
816 Cerebral laceration and contusion | 851 | S06.31-S06.33 S06.37-S06.38
817 Concussion | 310.2 850 | F07.81 S06.0
818 Intracranial hemorrhage (injury) | 852-853 | S06.34-S06.36 S06.4-S06.6
819 Skull and face fracture and other intercranial injury | 800-804 854 905.0 V15.52
	| S02 S06 S06.???S Z87.820
823 Torus fracture of lower leg | 823.4 | S82.16 S82.31 S82.81-S82.82
830 Dislocation | 830-839 905.6 | M99.1 S03 S13 S23 S33 S43 S53 S63 S73 S83.0-S83.3 S93
835 Internal derangement of knee | 717 | M22-M23
836 Traumatic arthropathy | 716.1 | M12.5
840 Sprains and strains | 840-845
	| S43.4-S43.9 S46.?1 S53.2-S53.4 S56.?1 S63.3-S63.9 S66.?1 S73.1 S76.?1 S83.4-S83.9 S86.?1
	S93.4-S93.6 S96.?1
841 Sprains and strains of back and neck | 846-847 | S13.4 S13.8-S13.9 S16.1 S23.3 S33.5-S33.9
842 Other and ill-defined sprains and strains | 848 905.7
	| S03.4-S03.9 S13.5 S23.4-S23.9 S33.4 S39.01
	S43.4??S S43.5??S S43.6??S S53.4??S S63.3??S S63.5??S S63.6??S S83.4??S S83.5??S S93.4??S
	S46.?1?S S56.?1?S S66.?1?S S76.?1?S S86.?1?S S96.?1?S
850 Hemorrhage or hematoma complicating a procedure | 998.1
	| D78 E36.0 G97.3 G97.5 H59.1 H59.3 H95.2 H95.4 I97.4 I97.6 J95.6 J95.83 K91.6 K91.84
	L76.0 L76.2 M96.81 M96.83 N99.6 N99.82
851 Complications of transplants and reattached limbs | 996.8-996.9 | T86 T87.0-T87.2
853 Complication of colostomy or enterostomy | 569.6 | K94
854 Complications of cardiac/vascular device, implant, and graft
	| 996.0-996.1 996.71-996.72 996.74 | T82
855 Complication of nervous system device, implant, and graft | 996.2 996.75 | T85.0-T85.1
856 Vascular complications of surgery and medical procedures | 997.02 997.2 997.7 999.1-999.2
	| T80.0-T80.1 T81.7
857 Complication of genitourinary device, implant, and graft | 996.3 996.76 | T83
858 Complication of internal orthopedic device | 996.4 996.77-996.78 | M96.6 T84
859 Complication due to other implant and internal device | 996.5 996.70 996.79 | T85
870 Open wounds of head; neck; and trunk | 870-879 906.0
	| S01 S05 S08 S09.2-S09.3 S11 S16.2 S21 S28 S31 S38.2-S38.3 S39.02
871 Open wounds of extremities | 880-884 890-894 906.1
	| S41 S46.?2 S51 S56.?2 S61 S66.?2 S71 S76.?2 S81 S86.?2 S91 S96.?2
	S46.?2?S S56.?2?S S66.?2?S S76.?2?S S86.?2?S S96.?2?S
872 Traumatic amputation | 885-887 895-897 905.9 | S48 S58 S68 S78 S88 S98
873 Open wound of head with avulsion | |
874 Complication of amputation stump | 997.6 | T87.3-T87.9
875 Non-healing surgical wound | 998.83 |
876 Posttraumatic wound infection, not elsewhere classified | 958.3 |
905 Late effects of musculoskeletal and connective tissue injuries | 905 |
907 Injury to the nervous system | 907 950-951 953-957
	| S04 S14 S14.???S S24 S24.???S S34 S34.???S S44 S54 S64 S74 S84 S94
910 Superficial injury, infected | 91?.1 91?.7 91?.9 |
911 Blister | 91?.2 91?.3
	| S00.?2 S10.12 S10.82 S10.92 S20.12 S20.32 S20.42 S30.82 S40.22 S40.82 S50.32 S50.82 S60.32
	S60.42 S60.52 S60.82 S70.22 S70.32 S80.22 S80.82 S90.42 S90.52 S90.82
912 Insect bite | 91?.4 91?.5
	| S00.?6 S10.16 S10.86 S10.96 S20.16 S20.36 S20.46 S30.86 S40.26 S40.86 S50.36 S50.86 S60.36
	S60.46 S60.56 S60.86 S70.26 S70.36 S80.26 S80.86 S90.46 S90.56 S90.86
913 Toxic effect of venom | 989.5 | T63
915 Superficial injury without mention of infection |
	| S00 S05.0 S10 S20 S30 S40 S50 S60 S70 S80 S90
916 Contusion | 906.3 920-924
	| S00.?3 S05.1 S10.0 S10.83 S10.93 S20.0 S20.2 S30.0-S30.3 S40.0 S50.0-S50.1 S60.0-S60.2
	S70.0-S70.1 S80.0-S80.1 S90.0-S90.3
930 Allergic reaction to food | 477.1 558.3 693.1 995.6 E865.4 V15.01-V15.05
	| J30.5 K52.2 L27.2 T78.0 Z91.01
941 Adverse reaction to serum or vaccine | 780.63 978-979 999.5 E948-E949 V14.7
	| R50.83 T50.A T50.B T50.Z T80.6 Z88.7
942 Infusion and transfusion reaction | 518.7 780.66 999.4 999.6-999.8 E934.7
	| J95.84 R50.84 T80.3-T80.5 T80.8-T80.9
946 Anaphylactic shock NOS | 995.0 | T78.2 T88.6
949 Allergies, other | 995.3 V15.0 | T78 Z91.0
952 Spinal cord injury | 952 | S14.0-S14.1 S24.0-S24.1 S34.0-S34.1
957 Injury to unspecified nerve | 957.9
	| S14.9 S24.9 S34.9 S44.9 S54.9 S64.9 S74.9 S84.9 S94.9
958 Certain early complications of trauma or procedure | 958 998.0 998.6 | T79 T81.1
960 Poisoning by antibiotics | 960 E856 E930 V14.0-V14.1 | T36 Z88.0-Z88.1
961 Poisoning by other anti-infectives | 961 E857 E931 V14.2-V14.3 | T37 Z88.2-Z88.3
962 Poisoning by hormones and synthetic substitutes | 962 996.57 E858.0 E932
	| T38 T85.614 T85.624 T85.633 T85.694
963 Poisoning by primarily systemic agents | 528.01-528.02 538 963 E858.1 E933
	| K12.31-K12.32 T45.0-T45.4
964 Poisoning by agents primarily affecting blood constituents | 289.84 964 E858.2 E934
	| D75.82 T45.5-T45.9
965 Poisoning by analgesics, antipyretics, and antirheumatics | 965 E850 E935 V14.5-V14.6
	| T39-T40 Z88.5-Z88.6
966 Poisoning by anticonvulsants and anti-Parkinsonism drugs | 966 E855.0 E936
	| T42.0-T42.2 T42.5 T42.8
967 Adverse effects of sedatives or other central nervous system depressants and anesthetics
	| 967-968 E851-E853 E855.1-E855.2 E937-E938 V14.4 | T41 T42.3-T42.4 T42.6-T42.7 Z88.4
969 Poisoning by psychotropic agents | 969-970 E854 E939-E940 | T40.5 T40.7-T40.9 T43
971 Poisoning by drugs primarily affecting the autonomic nervous system | 971 E855 E941 | T44
972 Poisoning by agents primarily affecting the cardiovascular system | 972 E858.3 E942 | T46
973 Poisoning by agents primarily affecting the gastrointestinal system | 973 E858.4 E943 | T47
974 Poisoning by water, mineral, and uric acid metabolism drugs | 974 E858.5 E944 | T50.0-T50.4
975 Poisoning by agents primarily acting on the smooth and skeletal muscles and respiratory system
	| 975 E858.6 E945 | T48
976 Poisoning by agents primarily affecting skin & mucous membrane, ophthalmological,
	otorhinolaryngological, & dental drugs | 976 E858.7 E946 | T49
977 Personal history of allergy to medicinal agents | V14 | Z88
979 Adverse drug events and drug allergies | 909.0 909.5 977 995.2 E858.8-E858.9 E947
	| T50 T88.7 T36-T50.???S +T36-T50.??5 +T36-T50.?5X
	T36.0X5 T36.1X5 T40.2X5 T42.75 T45.1X5 T45.515
981 Toxic effect of (non-ethyl) alcohol and petroleum and other solvents | 980-982 E860-E862
	| T51-T53
983 Toxic effect of corrosive aromatics, acids, and caustic alkalis | 983 E864 | T54
984 Toxic effect of lead and its compounds (including fumes) | 984 | M1A.1 T56.0
985 Toxic effect of other metals | 985 | T56 T57.0
986 Toxic effect of carbon monoxide | 986 E868 | T58
987 Toxic effect of other gases, fumes, or vapors | 987 | T59
988 Toxic effect of noxious substances eaten as food | 988 E865 | T61-T62
989 Toxic effect of other substances, chiefly nonmedicinal as to source | 909.1 989 E866
	| T51-T65.???S T55 T57 T60 T64-T65
990 Effects radiation NOS | 558.1 595.82 909.2 990 V15.3 | K12.33 K52.0 L58 N30.4 T66 Z92.3
994 Sepsis and SIRS | 785.52 995.9 | +A40-A41 R65
1000 Burns | | T20-T32
1001 Foreign body injury | | H44.6-H44.7 S05.4-S05.5 T15-T19
1002 Symptoms concerning nutrition, metabolism, and development | | R63
1004 Symptoms involving emotional state | | R45
1005 Other symptoms | | R68
1006 Crushing injury | | S07 S17 S28.0 S38.0-S38.1 S47 S57 S67 S77 S87 S97
1007 Injury to blood vessels | | S09.0 S15 S25 S35 S45 S55 S65 S75 S85 S95
1008 Crushing or internal injury to organs | | S21.3-S21.4 S26-S27 S31.0?1 S31.6 S36-S37
1009 Injury, NOS | | S09 S16 S19 S29 S39 S46 S49 S56 S59 S66 S69 S76 S79 S86 S89 S96 S99 T07 T14
1010 Other tests | | R76 R83-R85 R87-R89 Y84.8 Z11-Z13 Z20 Z22-Z23
1011 Complications of surgical and medical procedures | 997-999
	| E36 G97 H59 H95 I97.5 T80-T81 T82-T85.???S T88 Y62-Y65 Y83.1 Y84.2
1012 Late effect of injuries |
	| S09.???S S19.???S S29.???S S39.???S S46.???S S56.???S S66.???S S69.???S S76.???S S86.???S
	S96.???S T33-T34.???S T67-T79.???S
1013 Asphyxia and hypoxemia | 799.0 | R09.0
1014 Effects of heat, cold and air pressure | | T33-T34 T67-T70
1015 Effects of other external causes | | T71 T73-T76 T81.3 Z04 Z87.81 Z91.5 Z91.81
1019 Other ill-defined and unknown causes of morbidity and mortality | | R46 R69 R99
1100 Family history of a disease | | Z83-Z84
`,
	},
];

/**
 * Codes below a mapped code that have no PheCode themselves: those the catalogue marks to be
 * ignored, as unspecific, and underdosing (the drug was not taken).
 */
export const withoutPheCode = `
none Without PheCode
	| 291.0 292.81 360.5-360.6 525.6-525.7 564.0 656.3 659.0-659.1 659.4-659.6 729.5 780.94 783.21
	787.3 787.91 791.9 799.02 91?.2 91?.4 996.31 997.49 998.2-998.3 999.32-999.33
	| T36-T50.??6 T36-T50.?6X
`;
