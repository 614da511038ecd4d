import type { Chapter } from "./parse.js";

/**
 * The conditions of the simulator. How a line reads: parse.ts. Rates are invented, of the order of those in
 * claims: nothing here is an estimate from anyone's records. Which of its codes a record of diabetes gets is
 * decided by type and complications: ../sub-codes.ts.
 */
export const chapters: readonly Chapter[] = [
	{
		category: "infectious diseases",
		table: `
008 Intestinal infection | rate 0.039 | ages at least 0.25 falling 3-20 | again 0.25 after 5 days
	| season winter | also 276:0.15 783:0.12 789:0.3 | icd9 008.69 008.8 009.1 008.45 009.0
038 Septicemia | rate 0.00066 | ages rising 45-85 | again 0.6 after 5 days | deadly 1.4
	| causes 198×3 204×4 250×1.8 317×1.6 428×1.8 571×2.5 585×3 707×3
	| also 041:0.3 276:0.35 458:0.25 509:0.3 591:0.25 994:0.6 | icd9 038.9 038.42 038.10 038.0 038.11
041 Bacterial infection NOS | rate 0.0033 | ages at least 0.4 rising 40-80 | again 0.3 after 12 days
	| causes 250×1.6 585×1.8 707×3 | icd9 041.4 041.11 041.86 041.12 041.7
053 Herpes zoster | rate 0.0044 | ages at least 0.1 rising 40-75 | again 0.5 after 12 days
	| causes 071×4 202×3 204×4 714×2 | also 338:0.1 | icd9 053.9 053.19 053.79
054 Herpes simplex | rate 0.0039 | ages between 12-22 and 45-75 | again 0.35 after 60 days
	| sex female×1.3 male×0.7 | causes 071×3 | icd9 054.9 054.10 054.2 054.13
070 Viral hepatitis | rate 0.0011 | ages between 20-35 and 60-75 | every 210 days | causes 071×4 316×8 317×1.6
	| also 571:0.05 | icd9 070.54 070.51 070.32 070.30 070.70
071 Human immunodeficiency virus disease | rate 0.0003 | ages between 18-28 and 50-65 | every 140 days
	| carried 0.7 | sex female×0.4 male×1.6 | deadly 2 | causes 090×6 316×5 | icd9 042 V08
078 Viral warts and HPV | rate 0.017 | ages between 4-10 and 25-60 | again 0.55 after 25 days
	| icd9 078.10 078.11 078.19 078.12
079 Viral infection | rate 0.044 | ages at least 0.2 falling 3-18 | again 0.15 after 5 days | season winter
	| also 465:0.12 783:0.25 | icd9 079.99 079.6 079.89
090 Sexually transmitted infections | rate 0.0033 | ages between 15-19 and 28-50 | again 0.3 after 25 days
	| icd9 099.53 098.0 099.50 097.9
110 Dermatophytosis | rate 0.017 | ages at least 0.3 rising 35-75 | again 0.45 after 65 days
	| causes 250×2.2 443×2 | also 703:0.25 735:0.06 | icd9 110.1 110.5 110.4 110.3 110.0
112 Candidiasis | rate 0.011 | ages any | again 0.25 after 20 days | sex female×1.6 male×0.4
	| causes 071×4 250×2 714×1.4 | icd9 112.1 112.0 112.3 112.2
132 Infestation with lice or mites | rate 0.0044 | ages at least 0.15 falling 8-16 | again 0.25 after 12 days
	| season summer | icd9 133.0 132.0 132.9
`,
	},
	{
		category: "neoplasms",
		table: `
153 Colorectal cancer | rate 0.0016 | ages rising 50-78 | every 95 days | carried 0.6 | deadly 3
	| causes 208×2 278×1.3 318×1.3 555×3 | also 197:0.25 280:0.08 578:0.08 | icd9 153.9 154.1 153.6 153.3 V10.05
157 Pancreatic cancer | rate 0.0003 | ages rising 55-78 | every 40 days | carried 0.8 | deadly 25
	| causes 250×2 318×1.8 577×3 | also 197:0.3 785:0.3 | icd9 157.9 157.0 157.8
165 Cancer of lung and respiratory system | rate 0.00075 | ages rising 52-75 | every 55 days | carried 0.75
	| deadly 12 | causes 318×8 496×2.5 | also 197:0.3 507:0.1 512:0.25 | icd9 162.9 162.3 162.5 162.8 V10.11
172 Skin cancer | rate 0.0067 | ages rising 45-78 | every 295 days | stays 0.9 | carried 0.15
	| sex female×0.8 male×1.2 | causes 702×2.5 | also 216:0.15 702:0.25
	| icd9 173.31 173.41 172.9 173.91 173.2 V10.83
174 Breast cancer | rate 0.0032 | ages rising 38-68 | every 85 days | stays 0.985 | carried 0.6
	| sex female only | deadly 1.8 | causes 278×1.2 610×1.6 627×1.2 | also 197:0.2 611:0.08
	| icd9 174.9 174.4 V10.3 174.8 233.0
180 Cervical cancer and dysplasia | rate 0.003 | ages between 20-27 and 42-65 | every 265 days | stays 0.75
	| carried 0.3 | sex female only | causes 078×1.6 318×1.6 792×5 | also 792:0.25
	| icd9 622.10 622.11 622.12 180.9 233.1
182 Malignant neoplasm of uterus | rate 0.00068 | ages rising 48-70 | every 120 days | carried 0.5
	| sex female only | deadly 1.8 | causes 250×1.4 256×2 278×2.5 | also 626:0.15 | icd9 182.0 179 182.8
185 Cancer of prostate | rate 0.0053 | ages rising 55-75 | every 140 days | carried 0.6 | sex male only
	| deadly 1.5 | causes 600×1.6 | also 599:0.1 605:0.1 | icd9 185 V10.46 233.4
189 Cancer of urinary organs | rate 0.00097 | ages rising 52-78 | every 130 days | carried 0.5
	| sex female×0.5 male×1.5 | deadly 2 | causes 318×2.5 401×1.2 585×1.5 593×4 | also 593:0.25
	| icd9 188.9 189.0 188.6 V10.51
193 Thyroid cancer | rate 0.00022 | ages rising 25-50 | every 210 days | sex female×1.5 male×0.5 | causes 241×12
	| also 244:0.3 | icd9 193 V10.87
197 Chemotherapy | rate 0.00002 | ages rising 40-70 | again 0.8 after 18 days
	| causes 153×80 165×80 174×80 202×80 204×80 | also 285:0.15 288:0.15 789:0.15 | icd9 V58.11 V66.2 V67.2
198 Secondary malignant neoplasm | rate 0.000075 | ages rising 40-70 | every 55 days | carried 0.7 | deadly 6
	| causes 153×40 157×60 165×60 172×4 174×30 182×25 185×15 189×30 | also 197:0.3 276:0.1 338:0.2
	| icd9 198.5 197.7 197.0 198.3 196.6
202 Lymphoma and other lymphoid cancer | rate 0.00052 | ages rising 40-75 | every 85 days | carried 0.6
	| deadly 3 | causes 071×8 714×2 | also 197:0.25 288:0.1 | icd9 202.80 202.00 202.83
204 Leukemia | rate 0.00045 | ages at least 0.12 rising 50-78 | every 60 days | carried 0.65 | deadly 4
	| also 197:0.2 285:0.2 287:0.2 288:0.2 | icd9 204.10 205.00 204.00 205.10
208 Benign neoplasm of colon | rate 0.0097 | ages rising 45-58 | every 870 days | stays 0.8 | carried 0.08
	| causes 278×1.3 318×1.3 | also 455:0.15 562:0.25 | icd9 211.3 211.4
214 Lipoma | rate 0.0022 | ages rising 20-50 | again 0.45 after 25 days | icd9 214.1 214.9 214.8 214.0
216 Benign neoplasm of skin | rate 0.019 | ages at least 0.1 rising 15-45 | again 0.2 after 25 days
	| also 702:0.12 706:0.08 | icd9 216.5 216.9 216.7 216.6 216.3
218 Benign neoplasm of uterus | rate 0.0067 | ages between 25-38 and 52-60 | every 450 days | stays 0.85
	| carried 0.2 | sex female only | also 280:0.08 625:0.2 626:0.35 | icd9 218.9 218.1 218.0 218.2
`,
	},
	{
		category: "endocrine/metabolic",
		table: `
241 Nontoxic nodular goiter | rate 0.0037 | ages rising 28-55 | every 450 days | stays 0.92 | carried 0.25
	| sex female×1.6 male×0.4 | icd9 241.0 241.1 241.9
242 Thyrotoxicosis | rate 0.00096 | ages rising 20-45 | every 155 days | sex female×1.6 male×0.4 | causes 241×4
	| also 427:0.06 798:0.08 | icd9 242.90 242.00 242.20
244 Hypothyroidism | rate 0.0064 | ages at least 0.05 rising 25-62 | every 265 days | carried 0.45
	| sex female×1.65 male×0.35 | causes 193×20 241×2 242×8 758×4 | also 798:0.08 | icd9 244.9 244.8 244.0 244.1
250 Diabetes mellitus | rate 0.0042 | ages at least 0.11 rising 32-62 | every 110 days | carried 0.75
	| deadly 1.35 | causes 256×1.8 272×1.6 278×3.6 401×1.5 571×1.6 577×2.5 649×3
	| icd9 250.00 250.02 250.60 250.40 250.50 250.01 250.03 250.13 250.80 790.29 V58.67
252 Disorders of parathyroid gland | rate 0.00068 | ages rising 40-70 | every 265 days | sex female×1.4 male×0.6
	| causes 585×10 594×1.6 | icd9 252.00 252.01 252.1 252.02
256 Ovarian dysfunction | rate 0.0041 | ages between 13-18 and 34-48 | every 385 days | stays 0.9 | carried 0.25
	| sex female only | causes 278×2.5 | also 626:0.35 | icd9 256.4 256.9 256.8
257 Testicular dysfunction | rate 0.0045 | ages rising 38-60 | every 245 days | stays 0.9 | carried 0.35
	| sex male only | causes 250×1.8 278×1.8 | also 605:0.2 798:0.1 | icd9 257.2 257.8 257.9
260 Protein-calorie malnutrition | rate 0.00066 | ages rising 60-88 | again 0.45 after 20 days | deadly 1.6
	| causes 157×6 165×4 198×4 290×4 317×2 555×2 | icd9 263.9 262 263.0 261
261 Vitamin deficiency | rate 0.011 | ages at least 0.2 rising 25-60 | every 450 days | stays 0.85 | carried 0.3
	| sex female×1.25 male×0.75 | causes 278×1.4 585×1.8 743×1.8 | icd9 268.9 266.2 268.0 266.9
272 Disorders of lipoid metabolism | rate 0.029 | ages rising 30-58 | every 275 days | carried 0.6
	| causes 244×1.3 250×2.2 278×1.6 401×1.4 | icd9 272.4 272.0 272.2 272.1
274 Gout and other crystal arthropathies | rate 0.003 | ages rising 38-70 | every 265 days | carried 0.4
	| sex female×0.45 male×1.55 | causes 278×1.8 401×1.7 428×1.6 585×2.5 | also 745:0.2
	| icd9 274.9 274.00 274.01 712.30
276 Disorders of fluid, electrolyte and acid-base balance | rate 0.0077 | ages young and old×2
	| again 0.35 after 9 days | causes 250×1.5 317×1.6 428×2.2 571×2 585×2.4 | also 789:0.1 798:0.12
	| icd9 276.51 276.8 276.1 276.7 276.2
278 Overweight and obesity | rate 0.01 | ages at least 0.15 between 12-32 and 62-90 | every 485 days
	| stays 0.95 | carried 0.3 | sex female×1.15 male×0.85 | causes 244×1.3 256×1.5 296×1.4
	| icd9 278.00 278.01 278.02 V85.41 V85.30
279 Disorders involving the immune mechanism | rate 0.00052 | ages any | every 190 days | also 475:0.1
	| icd9 279.06 279.3 279.00 279.9
`,
	},
	{
		category: "hematopoietic",
		table: `
280 Iron deficiency anemia | rate 0.004 | ages at least 0.35 rising 40-80 | every 190 days | stays 0.82
	| carried 0.4 | sex female×1.5 male×0.5 | causes 218×2 531×2 555×2.5 578×2.5 585×2 626×1.6
	| icd9 280.9 280.0 280.8
281 Other deficiency anemia | rate 0.001 | ages rising 45-80 | every 100 days | stays 0.88
	| causes 317×2.5 555×2 | icd9 281.1 281.0 281.9 281.2
282 Hereditary hemolytic anemia | rate 0.0015 | ages falling 2-8 | every 155 days | carried 0.6 | also 338:0.08
	| icd9 282.60 282.49 282.5 282.62
285 Other anemias | rate 0.0067 | ages at least 0.2 rising 50-82 | every 170 days | stays 0.88 | carried 0.5
	| deadly 1.25 | causes 198×3 204×3 250×1.4 280×1.6 428×1.7 585×4 714×1.8 | also 798:0.1
	| icd9 285.9 285.21 285.29 285.1
286 Coagulation defects | rate 0.00082 | ages at least 0.4 rising 40-75 | every 100 days | stays 0.9
	| causes 452×3 571×3 | icd9 286.9 286.7 286.0
287 Purpura and thrombocytopenia | rate 0.0014 | ages at least 0.25 rising 45-78 | every 155 days | stays 0.9
	| causes 204×4 317×2 571×5 | icd9 287.5 287.31 287.49 287.8
288 Diseases of white blood cells | rate 0.0033 | ages young and old×1 | again 0.45 after 25 days
	| causes 202×4 204×5 714×2 | icd9 288.60 288.00 288.50 288.03
`,
	},
	{
		category: "mental disorders",
		table: `
290 Dementia and other cognitive disorders | rate 0.02 | ages rising 70-90 | every 120 days | carried 0.6
	| deadly 2.2 | causes 250×1.3 296×1.5 317×1.5 332×4 433×2.2 | also 276:0.06 591:0.06
	| icd9 290.0 294.10 294.20 293.0 290.40
295 Schizophrenia and other psychotic disorders | rate 0.0006 | ages between 14-20 and 35-60 | every 70 days
	| carried 0.7 | deadly 1.6 | causes 316×4 | icd9 295.70 295.30 298.9 295.90 295.32
296 Mood disorders | rate 0.0066 | ages at least 0.3 between 13-20 and 50-80 | every 115 days | stays 0.94
	| carried 0.5 | sex female×1.35 male×0.65
	| causes 300×2.6 316×2.2 317×1.8 338×1.8 340×1.3 428×1.4 433×1.6 770×1.6 | also 300:0.03 304:0.02 798:0.04
	| icd9 311 296.33 296.32 296.20 296.80 296.90
297 Suicidal ideation or attempt | rate 0.00066 | ages between 12-16 and 30-65 | again 0.45 after 12 days
	| causes 295×4 296×6 301×6 316×3 317×2.5 | icd9 V62.84 E950.3 E950.4
300 Anxiety disorders | rate 0.0066 | ages at least 0.25 between 10-18 and 45-80 | every 150 days | stays 0.92
	| carried 0.45 | sex female×1.4 male×0.6 | causes 242×1.6 296×2.6 316×1.7 317×1.5 495×1.2
	| also 327:0.02 418:0.03 | icd9 300.00 300.02 300.01 300.3 309.81
301 Personality disorders | rate 0.0006 | ages between 15-20 and 35-55 | every 80 days | stays 0.93
	| carried 0.4 | causes 296×5 316×3 | icd9 301.83 301.9 301.7
304 Adjustment reaction | rate 0.0088 | ages at least 0.3 between 6-14 and 50-80 | again 0.72 after 16 days
	| sex female×1.3 male×0.7 | causes 174×2 296×1.8 300×1.8 301×2 | icd9 309.9 309.28 309.24 309.0
313 Attention deficit and pervasive developmental disorders | rate 0.012 | ages between 3-6 and 10-18
	| every 120 days | stays 0.94 | carried 0.45 | sex female×0.55 male×1.45 | causes 315×3 758×3
	| icd9 314.01 314.00 299.00
315 Developmental delays and disorders | rate 0.0097 | ages falling 4-10 | every 80 days | stays 0.93
	| sex female×0.6 male×1.4 | causes 345×2 747×2 758×20 | icd9 315.39 315.9 315.31 315.4 319
316 Substance addiction and disorders | rate 0.0023 | ages between 15-21 and 38-65 | every 85 days | stays 0.93
	| carried 0.4 | sex female×0.7 male×1.3 | deadly 2 | causes 295×3 296×2.2 301×3 317×4 318×2.5 338×2.5
	| icd9 304.00 305.90 305.20 304.90 304.20
317 Alcohol-related disorders | rate 0.0023 | ages between 18-28 and 58-78 | every 140 days | stays 0.94
	| carried 0.35 | sex female×0.5 male×1.5 | deadly 1.8 | causes 296×1.8 300×1.5 316×4 318×2.5
	| also 276:0.05 571:0.02 | icd9 305.00 303.90 303.91 291.81
318 Tobacco use disorder | rate 0.0083 | ages at least 0.1 between 15-22 and 55-80 | every 450 days | stays 0.95
	| carried 0.3 | deadly 1.4 | causes 295×2.5 296×1.6 316×2.5 317×2.5 | icd9 305.1
`,
	},
	{
		category: "neurological",
		table: `
327 Sleep disorders | rate 0.008 | ages at least 0.1 rising 22-50 | every 330 days | stays 0.92 | carried 0.3
	| causes 278×2.6 296×1.8 300×1.6 338×1.4 401×1.3 428×1.5 | also 798:0.08
	| icd9 327.23 780.52 780.57 780.50 780.51
331 Other cerebral degenerations | rate 0.0015 | ages rising 70-88 | every 140 days | deadly 1.8 | causes 290×6
	| also 290:0.3 | icd9 331.9 331.4 331.89
332 Parkinson's disease | rate 0.0018 | ages rising 60-82 | every 155 days | carried 0.6
	| sex female×0.8 male×1.2 | deadly 1.7 | also 350:0.1 | icd9 332.0
333 Abnormal movement disorders | rate 0.0026 | ages at least 0.1 rising 40-75 | every 275 days
	| causes 295×2 332×3 | icd9 333.1 333.90 333.82 333.83
335 Multiple sclerosis | rate 0.00026 | ages between 17-27 and 42-60 | every 120 days | carried 0.6
	| sex female×1.5 male×0.5 | deadly 1.4 | also 596:0.04 798:0.08 | icd9 340
338 Pain | rate 0.0036 | ages rising 25-55 | every 80 days | stays 0.9 | carried 0.4
	| causes 198×5 296×1.4 356×2 714×1.8 720×3 721×2 722×2.8 770×2 | also 760:0.15
	| icd9 338.29 338.19 338.21 338.28
339 Other headache syndromes | rate 0.019 | ages at least 0.3 between 6-18 and 50-80 | again 0.3 after 15 days
	| sex female×1.3 male×0.7 | causes 300×1.4 340×2.2 817×2 | also 386:0.05 789:0.06
	| icd9 339.10 339.89 339.20 339.3
340 Migraine | rate 0.0036 | ages at least 0.05 between 8-17 and 42-62 | every 230 days | stays 0.93
	| carried 0.3 | sex female×1.5 male×0.5 | causes 296×1.4 300×1.5 | also 339:0.15 789:0.08
	| icd9 346.90 346.10 346.00 346.70
342 Hemiplegia | rate 0.00015 | ages at least 0.1 rising 50-80 | every 80 days | carried 0.5 | deadly 1.6
	| causes 433×25 | icd9 342.90 342.80 342.91
345 Epilepsy, recurrent seizures, convulsions | rate 0.0014 | ages young and old×0.7 | every 170 days
	| carried 0.5 | deadly 1.5 | causes 290×2 315×3 316×2 317×2.5 433×3 | also 788:0.05
	| icd9 780.39 345.90 345.10 345.40
350 Abnormal movement | rate 0.0072 | ages young and old×2.5 | again 0.5 after 9 days
	| causes 290×1.8 332×4 335×4 433×3 | icd9 781.2 781.0 781.3
351 Other peripheral nerve disorders | rate 0.0053 | ages rising 25-52 | every 210 days | stays 0.8
	| carried 0.2 | sex female×1.3 male×0.7 | causes 244×1.5 250×1.8 714×2 | icd9 354.0 354.2
356 Hereditary and idiopathic peripheral neuropathy | rate 0.0015 | ages rising 42-72 | every 210 days
	| carried 0.45 | causes 250×6 317×3 585×1.8 | also 771:0.12 | icd9 356.9 356.8 356.4
357 Inflammatory and toxic neuropathy | rate 0.00015 | ages rising 40-70 | every 190 days | carried 0.45
	| causes 202×3 250×20 317×5 | icd9 357.9 357.4 357.81
`,
	},
	{
		category: "sense organs",
		table: `
361 Retinal detachments and defects | rate 0.0012 | ages rising 45-72 | again 0.65 after 20 days
	| causes 362×2 366×2 367×1.3 | icd9 361.00 361.30 361.81 361.32
362 Other retinal disorders | rate 0.006 | ages rising 58-82 | every 190 days | carried 0.12
	| causes 250×3.2 366×1.4 401×1.3 | also 366:0.08 368:0.1 | icd9 362.51 362.50 362.52 362.56
365 Glaucoma | rate 0.006 | ages rising 48-75 | every 215 days | carried 0.1 | causes 250×1.4 | also 366:0.08
	| icd9 365.11 365.01 365.10 365.04
366 Cataract | rate 0.026 | ages rising 58-77 | every 400 days | stays 0.9 | carried 0.08
	| causes 250×1.7 365×1.3 | also 367:0.15 | icd9 366.16 366.10 366.14 V43.1
367 Disorders of refraction; low vision | rate 0.015 | ages at least 0.5 between 5-12 and 60-90 | every 695 days
	| stays 0.93 | carried 0.06 | icd9 367.1 367.20 367.0
368 Visual disturbances | rate 0.0077 | ages at least 0.3 rising 40-75 | again 0.25 after 25 days
	| causes 340×1.6 362×2 | icd9 368.8 368.13 368.2 368.40
369 Infection of the eye | rate 0.033 | ages at least 0.2 falling 4-15 | again 0.2 after 6 days | season winter
	| icd9 372.00 372.03
371 Inflammation of the eye | rate 0.014 | ages at least 0.5 rising 30-70 | again 0.4 after 20 days
	| causes 375×1.8 476×1.7 714×1.8 | icd9 372.14 373.00 364.00
374 Other disorders of eyelids | rate 0.0033 | ages rising 50-80 | again 0.5 after 35 days
	| icd9 374.30 374.87 374.00 374.10
375 Disorders of lacrimal system | rate 0.0067 | ages rising 42-75 | every 385 days | stays 0.85 | carried 0.08
	| sex female×1.4 male×0.6 | causes 371×1.4 714×2.5 | icd9 375.15 375.20 375.00
379 Other disorders of eye | rate 0.0072 | ages rising 35-70 | again 0.3 after 35 days | also 361:0.04 366:0.06
	| icd9 379.21 379.24 379.91 379.93
380 Disorders of external ear | rate 0.025 | ages at least 0.6 rising 50-80 | again 0.2 after 10 days
	| also 389:0.06 | icd9 380.4 380.10 380.12 380.22
381 Otitis media and Eustachian tube disorders | rate 0.22 | ages at least 0.06 falling 2-9
	| again 0.35 after 14 days | season winter | causes 279×2 476×1.3 | also 389:0.015 465:0.2 783:0.12
	| icd9 382.9 382.00 381.81 381.10
386 Vertiginous syndromes | rate 0.012 | ages rising 28-70 | again 0.35 after 10 days | also 339:0.08 789:0.12
	| icd9 780.4 386.11 386.10 386.00 386.12
389 Hearing loss | rate 0.011 | ages at least 0.1 rising 48-80 | every 575 days | stays 0.9 | carried 0.06
	| sex female×0.8 male×1.2 | causes 381×1.2 758×3 | also 380:0.2 | icd9 389.10 389.9 389.18
`,
	},
	{
		category: "circulatory system",
		table: `
394 Rheumatic disease of the heart valves | rate 0.0009 | ages rising 45-78 | every 265 days | carried 0.4
	| deadly 1.3 | causes 395×4 427×1.6 | icd9 397.0 394.0 396.8 394.9
395 Heart valve disorders | rate 0.0045 | ages rising 45-78 | every 295 days | carried 0.4 | deadly 1.3
	| causes 401×1.5 411×1.7 425×2 585×1.5 747×5 | also 427:0.05 | icd9 424.0 424.1 424.2 V43.3
401 Hypertension | rate 0.029 | ages rising 32-64 | every 190 days | carried 0.75 | deadly 1.1
	| causes 250×1.9 272×1.3 278×2.1 317×1.4 327×1.3 585×2.5 642×3 | icd9 401.9 401.1 401.0 402.90 403.90
411 Ischemic heart disease | rate 0.0055 | ages rising 45-75 | every 150 days | carried 0.65
	| sex female×0.65 male×1.35 | deadly 1.5 | causes 250×1.9 272×1.9 278×1.2 318×2 401×1.9 440×2 585×1.7
	| also 418:0.14 | icd9 414.01 414.00 413.9 412 410.71 411.1
415 Pulmonary heart disease | rate 0.00049 | ages rising 35-78 | again 0.65 after 20 days | deadly 1.6
	| causes 165×3 198×3 278×1.6 428×3 452×8 496×2.5 | also 418:0.12 509:0.15 512:0.3 | icd9 415.19 416.8 416.0
418 Nonspecific chest pain | rate 0.019 | ages rising 15-50 | again 0.25 after 8 days
	| causes 300×1.5 401×1.3 411×2.6 530×1.4 | also 401:0.02 512:0.12 | icd9 786.50 786.59 786.51
425 Cardiomyopathy | rate 0.0009 | ages rising 40-75 | every 140 days | carried 0.6 | sex female×0.7 male×1.3
	| deadly 1.8 | causes 197×1.6 317×2.5 401×1.6 411×5 427×2 | also 428:0.08 | icd9 425.4 425.18 425.9 425.8
426 Cardiac conduction disorders | rate 0.0023 | ages rising 55-82 | every 230 days | carried 0.4
	| causes 395×1.6 411×2.2 425×2.5 427×2.5 | also 788:0.06 | icd9 426.3 426.11 426.0 V45.01
427 Cardiac dysrhythmias | rate 0.0067 | ages at least 0.06 rising 48-80 | every 130 days | carried 0.6
	| deadly 1.3 | causes 242×2 327×1.3 395×2 401×1.5 411×1.9 425×2.5 428×2.2 | also 418:0.06 788:0.05
	| icd9 427.31 785.1 427.89 427.9 427.69
428 Congestive heart failure | rate 0.0023 | ages rising 52-84 | every 70 days | carried 0.8 | deadly 2.6
	| causes 250×1.9 278×1.3 394×2 395×1.9 401×2.4 411×3 425×7 427×2.3 496×1.4 585×1.9
	| also 276:0.08 507:0.06 509:0.05 512:0.15 | icd9 428.0 428.32 428.22 428.30 428.9
433 Cerebrovascular disease | rate 0.0032 | ages rising 55-82 | every 170 days | carried 0.5 | deadly 1.6
	| causes 250×1.6 272×1.3 318×1.6 401×2 427×2.4 440×2 | also 350:0.08 386:0.05
	| icd9 434.91 435.9 433.10 436 438.0
440 Atherosclerosis | rate 0.0021 | ages rising 58-84 | every 265 days | carried 0.35 | deadly 1.2
	| causes 250×1.9 272×1.5 318×2.4 401×1.5 411×1.8 | icd9 440.9 440.20 440.21 440.0
442 Aneurysm | rate 0.00068 | ages rising 60-82 | every 330 days | carried 0.3 | sex female×0.4 male×1.6
	| deadly 1.4 | causes 318×3 401×1.6 440×2.5 | icd9 441.4 441.2 442.2 441.9
443 Peripheral vascular disease | rate 0.0025 | ages rising 52-80 | every 175 days | carried 0.45 | deadly 1.4
	| causes 250×3 318×2.2 401×1.4 411×1.7 440×2.5 | also 110:0.1 771:0.1 | icd9 443.9 443.81 443.0
451 Phlebitis and thrombophlebitis | rate 0.00077 | ages rising 35-75 | again 0.45 after 15 days
	| causes 452×2 454×4 | icd9 451.0 451.19 451.9 451.82
452 Venous embolism and thrombosis | rate 0.00099 | ages rising 35-80 | again 0.72 after 22 days | deadly 1.3
	| causes 165×3 198×4 278×1.6 286×2 342×2 800×2 | also 771:0.15 | icd9 453.40 453.41 453.8 453.42
454 Varicose veins | rate 0.0037 | ages rising 30-60 | every 350 days | stays 0.75 | carried 0.12
	| sex female×1.5 male×0.5 | causes 278×1.5 | icd9 454.9 454.8 454.1
455 Hemorrhoids | rate 0.0099 | ages rising 22-48 | again 0.3 after 20 days | causes 564×2 | also 578:0.12
	| icd9 455.6 455.0 455.3 455.2
458 Hypotension | rate 0.0022 | ages rising 55-85 | again 0.3 after 9 days | causes 332×3 401×1.4 428×2 585×1.8
	| also 386:0.12 788:0.15 | icd9 458.9 458.0 458.29
`,
	},
	{
		category: "respiratory",
		table: `
464 Acute sinusitis | rate 0.061 | ages at least 0.4 between 5-25 and 55-80 | again 0.2 after 9 days
	| season winter | sex female×1.2 male×0.8 | causes 475×2 476×1.6 | also 465:0.06 512:0.1
	| icd9 461.9 461.0 461.8
465 Acute upper respiratory infections | rate 0.28 | ages at least 0.28 falling 3-20 | again 0.14 after 6 days
	| season winter | causes 279×1.6 495×1.3 | also 512:0.16 783:0.1 | icd9 465.9 462 460 464.0
474 Acute and chronic tonsillitis | rate 0.028 | ages between 0-4 and 12-32 | again 0.3 after 12 days
	| season winter | also 783:0.12 | icd9 463 474.00 474.10
475 Chronic sinusitis | rate 0.0054 | ages at least 0.2 between 8-28 and 60-80 | every 295 days | stays 0.82
	| carried 0.2 | causes 464×2 476×2.5 | icd9 473.9 473.0 473.8
476 Allergic rhinitis | rate 0.009 | ages at least 0.35 between 3-8 and 35-70 | every 245 days | stays 0.92
	| carried 0.3 | causes 495×2.4 939×1.4 | icd9 477.9 477.0 477.8
477 Epistaxis | rate 0.0044 | ages young and old×1.5 | again 0.3 after 8 days | causes 286×3 287×2 401×1.3
	| icd9 784.7
480 Pneumonia | rate 0.0077 | ages young and old×1.4 | again 0.55 after 8 days | season winter | deadly 1.2
	| causes 071×3 165×2.5 290×2 428×1.8 495×1.4 496×2.8 502×2 | also 276:0.1 507:0.08 509:0.1 512:0.3 783:0.25
	| icd9 486 485 482.9 481
481 Influenza | rate 0.014 | ages at least 0.4 falling 8-40 | again 0.12 after 5 days
	| season peak 32 swing 0.97 | also 512:0.15 783:0.3 | icd9 487.1 487.8
483 Acute bronchitis and bronchiolitis | rate 0.047 | ages at least 0.6 young and old×0.6
	| again 0.2 after 8 days | season winter | causes 318×1.6 495×1.8 496×2.2 | also 465:0.08 512:0.25
	| icd9 466.0 466.19 466.11
495 Asthma | rate 0.0067 | ages at least 0.25 falling 4-25 | every 210 days | stays 0.94 | carried 0.45
	| causes 278×1.4 476×2 939×1.5 | also 465:0.05 483:0.04 512:0.06 | icd9 493.90 493.92 493.00 493.91
496 Chronic airway obstruction | rate 0.0023 | ages rising 45-72 | every 120 days | carried 0.6 | deadly 1.9
	| causes 318×7 495×2.4 | also 480:0.03 483:0.06 509:0.04 512:0.1 | icd9 496 491.21 492.8 491.20
502 Postinflammatory pulmonary fibrosis | rate 0.00045 | ages rising 55-80 | every 155 days | carried 0.5
	| deadly 2.5 | causes 318×2 714×3 | also 509:0.06 512:0.15 | icd9 515
507 Pleurisy; pleural effusion | rate 0.00099 | ages rising 40-80 | again 0.45 after 9 days
	| causes 165×6 198×4 428×5 480×1.5 571×2 | also 512:0.2 | icd9 511.9 511.0
509 Respiratory failure, insufficiency, arrest | rate 0.00049 | ages rising 45-82 | again 0.5 after 6 days
	| deadly 1.8 | causes 165×3 290×1.5 428×3.5 496×5 502×4 | also 276:0.15 480:0.15
	| icd9 518.81 518.82 799.1 518.84
512 Other symptoms of respiratory system | rate 0.028 | ages young and old×1 | again 0.2 after 8 days
	| season winter | causes 318×1.3 428×2.2 495×1.5 496×2 | icd9 786.2 786.05 786.09 786.07
`,
	},
	{
		category: "digestive",
		table: `
521 Diseases of hard tissues of teeth | rate 0.0066 | ages any | again 0.3 after 20 days | causes 316×2
	| icd9 521.00 521.9 521.09
530 Diseases of esophagus | rate 0.015 | ages at least 0.1 rising 22-55 | every 330 days | stays 0.93
	| carried 0.4 | causes 278×1.7 300×1.2 318×1.3 495×1.3 | also 418:0.03 535:0.05 785:0.06
	| icd9 530.81 530.11 530.85 530.3
531 Peptic ulcer | rate 0.0016 | ages rising 35-72 | every 190 days | stays 0.85 | carried 0.3
	| causes 317×1.8 318×1.8 535×2 714×2 740×1.3 | also 578:0.12 785:0.15 | icd9 533.90 531.90 532.90 531.40
535 Gastritis and duodenitis | rate 0.0088 | ages rising 15-45 | again 0.3 after 14 days
	| causes 317×2 530×1.8 740×1.3 | also 785:0.25 789:0.12 | icd9 535.50 535.10 535.40 535.00
536 Disorders of function of stomach | rate 0.0072 | ages rising 15-45 | again 0.3 after 20 days
	| causes 250×1.6 300×1.4 530×1.6 | also 785:0.2 789:0.15 | icd9 536.8 536.3
550 Abdominal hernia | rate 0.005 | ages at least 0.2 rising 30-70 | again 0.55 after 18 days
	| sex female×0.6 male×1.4 | causes 278×1.4 496×1.3 | icd9 550.90 553.3 553.1 553.20
555 Inflammatory bowel disease | rate 0.00068 | ages between 10-20 and 40-75 | every 130 days | carried 0.6
	| also 578:0.06 785:0.12 | icd9 556.9 555.9 555.1 556.6
558 Noninfectious gastroenteritis | rate 0.033 | ages at least 0.4 falling 4-30 | again 0.15 after 5 days
	| also 276:0.1 785:0.15 789:0.25 | icd9 558.9
560 Intestinal obstruction | rate 0.00099 | ages rising 45-82 | again 0.45 after 7 days
	| causes 153×5 550×2 555×4 | also 276:0.2 785:0.35 789:0.2 | icd9 560.9 560.81 560.1 560.39
562 Diverticulosis and diverticulitis | rate 0.0097 | ages rising 45-70 | every 520 days | stays 0.85
	| carried 0.15 | causes 208×1.6 278×1.3 | also 578:0.05 785:0.15 | icd9 562.10 562.11 562.12
564 Functional digestive disorders | rate 0.0065 | ages at least 0.5 young and old×0.8 | every 295 days
	| stays 0.85 | carried 0.25 | sex female×1.3 male×0.7 | causes 290×1.5 296×1.4 300×1.5 332×2 338×1.8
	| also 785:0.15 | icd9 564.1 564.5 564.9 564.89
565 Anal and rectal conditions | rate 0.0039 | ages between 15-25 and 55-80 | again 0.35 after 14 days
	| causes 555×3 564×1.8 | also 578:0.15 | icd9 565.0 569.42 565.1 566
571 Chronic liver disease and cirrhosis | rate 0.0019 | ages rising 30-58 | every 175 days | stays 0.96
	| carried 0.5 | deadly 2.2 | causes 070×10 250×1.9 272×1.3 278×2 317×6 | icd9 571.8 571.5 571.9 572.3
574 Cholelithiasis and cholecystitis | rate 0.0033 | ages rising 22-55 | again 0.5 after 10 days
	| sex female×1.4 male×0.6 | causes 250×1.3 278×1.9 | also 785:0.4 789:0.15
	| icd9 574.20 574.10 574.00 575.11
577 Diseases of pancreas | rate 0.00061 | ages rising 20-50 | again 0.55 after 14 days
	| causes 157×4 272×1.4 317×8 574×5 | also 276:0.15 785:0.4 789:0.2 | icd9 577.0 577.1 577.2
578 Gastrointestinal hemorrhage | rate 0.005 | ages at least 0.2 rising 35-80 | again 0.3 after 7 days
	| causes 286×2 455×1.6 531×4 555×3 562×2 571×3 | also 280:0.08 285:0.08 | icd9 578.9 578.1 578.0
`,
	},
	{
		category: "genitourinary",
		table: `
580 Nephritis, nephrosis, renal sclerosis | rate 0.00052 | ages at least 0.3 rising 35-75 | every 150 days
	| carried 0.5 | deadly 1.3 | causes 250×6 401×1.8 714×2 | icd9 581.9 582.9 583.9 583.81
585 Renal failure | rate 0.0019 | ages rising 48-82 | every 115 days | carried 0.7 | deadly 2
	| causes 250×3.2 274×1.4 401×2.2 411×1.4 428×2.6 580×6 594×1.4 600×1.3 | also 276:0.1 285:0.1
	| icd9 585.9 585.3 584.9 585.6 585.4
586 Other disorders of the kidney and ureters | rate 0.0028 | ages at least 0.3 young and old×1
	| again 0.4 after 35 days | causes 585×2.5 594×2 | icd9 593.2 593.9 593.89
590 Pyelonephritis | rate 0.0019 | ages at least 0.4 between 12-18 and 45-75 | again 0.45 after 7 days
	| sex female×1.7 male×0.3 | causes 250×1.7 591×2 594×3 | also 591:0.25 783:0.3 | icd9 590.80 590.10 590.9
591 Urinary tract infection | rate 0.036 | ages at least 0.5 rising 45-85 | again 0.22 after 9 days
	| sex female×1.7 male×0.3 | causes 250×1.5 290×2 335×2.5 342×2 594×1.6 596×2 600×3
	| also 041:0.06 593:0.06 599:0.2 | icd9 599.0
592 Cystitis and urethritis | rate 0.0088 | ages at least 0.4 rising 15-60 | again 0.25 after 12 days
	| sex female×1.7 male×0.3 | causes 591×1.6 | also 593:0.1 599:0.2 | icd9 595.9 595.0 595.1 597.80
593 Hematuria | rate 0.0072 | ages at least 0.15 rising 32-75 | again 0.35 after 25 days
	| causes 189×4 594×2 600×2 | icd9 599.70 599.71 599.72
594 Urinary calculus | rate 0.0044 | ages rising 18-45 | again 0.5 after 16 days | sex female×0.75 male×1.25
	| causes 252×4 274×1.8 278×1.4 | also 593:0.25 785:0.3 | icd9 592.0 592.1 592.9 594.0
596 Other disorders of bladder | rate 0.0037 | ages rising 42-80 | every 245 days | stays 0.88 | carried 0.25
	| causes 250×1.3 332×2 335×5 600×2 618×2 | also 599:0.25 | icd9 596.51 596.54 596.0 596.59
599 Other symptoms of the urinary system | rate 0.017 | ages at least 0.25 rising 40-80
	| again 0.25 after 18 days | causes 250×1.3 290×1.5 600×2.2 618×2 | icd9 788.41 788.1 788.30 788.20
600 Hyperplasia of prostate | rate 0.032 | ages rising 48-75 | every 295 days | carried 0.4 | sex male only
	| also 599:0.15 605:0.04 | icd9 600.00 600.01 600.10
601 Inflammatory diseases of prostate | rate 0.0044 | ages rising 20-50 | again 0.4 after 18 days
	| sex male only | causes 600×1.8 | also 599:0.15 | icd9 601.9 601.0 601.1
605 Erectile dysfunction | rate 0.01 | ages between 30-52 and 72-90 | every 450 days | stays 0.85 | carried 0.2
	| sex male only | causes 185×3 250×2 257×2.5 272×1.2 401×1.4 | icd9 607.84
610 Benign mammary dysplasias | rate 0.009 | ages between 20-34 and 55-75 | every 520 days | stays 0.75
	| carried 0.12 | sex female only | also 611:0.3 | icd9 610.1 610.0 610.2 610.9
611 Abnormal findings on mammogram or breast exam | rate 0.018 | ages between 25-42 and 70-88
	| again 0.45 after 40 days | sex female only | causes 174×2 610×1.8 | icd9 793.80 611.72 793.89 793.81
614 Inflammatory diseases of female pelvic organs | rate 0.028 | ages between 12-18 and 42-65
	| again 0.25 after 14 days | sex female only | causes 090×2 | also 625:0.1 | icd9 616.10 614.9 616.0 616.11
615 Endometriosis | rate 0.0026 | ages only 12-22 and 40-56 | every 230 days | stays 0.9 | carried 0.3
	| sex female only | also 625:0.3 626:0.15 | icd9 617.9 617.1 617.0 617.3
618 Genital prolapse | rate 0.0053 | ages rising 42-72 | every 275 days | stays 0.85 | carried 0.2
	| sex female only | causes 278×1.3 496×1.3 | also 599:0.2 | icd9 618.01 618.9 618.4 618.04
625 Pain and other symptoms of female genital organs | rate 0.019 | ages between 11-18 and 45-70
	| again 0.28 after 15 days | sex female only | causes 218×1.8 615×2.6 628×1.6 | also 785:0.2
	| icd9 625.9 625.0 625.8
626 Disorders of menstruation | rate 0.036 | ages only 10-15 and 46-58 | again 0.35 after 25 days
	| sex female only | causes 218×2.2 256×2 615×1.5 | also 625:0.12 | icd9 626.2 626.8 626.4 626.0 626.9
627 Menopausal and postmenopausal disorders | rate 0.038 | ages between 42-50 and 62-80 | every 430 days
	| stays 0.85 | carried 0.3 | sex female only | also 626:0.05 | icd9 627.2 627.3 627.1 627.9
628 Ovarian cyst | rate 0.0077 | ages only 11-18 and 42-60 | again 0.4 after 25 days | sex female only
	| causes 256×2 | also 625:0.3 785:0.25 | icd9 620.2 620.0 620.1
792 Abnormal Papanicolaou smear | rate 0.014 | ages between 19-24 and 40-65 | again 0.45 after 60 days
	| sex female only | causes 078×1.5 180×3 318×1.4 | icd9 795.01 795.00 795.03 795.05
`,
	},
	{
		category: "pregnancy complications",
		table: `
634 Miscarriage; stillbirth | rate 0.0088 | ages only 14-22 and 34-46 | again 0.4 after 8 days | sex female only
	| causes 250×1.3 256×1.4 | also 635:0.15 | icd9 634.90 631.8 632
635 Hemorrhage during pregnancy, childbirth and postpartum | rate 0.0033 | ages only 14-22 and 34-46
	| again 0.3 after 12 days | sex female only | icd9 641.10 666.12 641.93
636 Early or threatened labor; hemorrhage in early pregnancy | rate 0.0072 | ages only 14-22 and 34-46
	| again 0.45 after 9 days | sex female only | causes 634×1.6 | also 625:0.1
	| icd9 644.03 640.00 640.03 644.20
642 Hypertension complicating pregnancy | rate 0.0028 | ages only 14-22 and 34-46 | again 0.7 after 9 days
	| sex female only | causes 250×2 278×2 401×4 | also 649:0.1 | icd9 642.33 642.43 642.03 642.53
643 Excessive vomiting in pregnancy | rate 0.005 | ages only 14-22 and 34-46 | again 0.5 after 8 days
	| sex female only | also 276:0.2 | icd9 643.03 643.13 643.93
646 Other complications of pregnancy | rate 0.012 | ages only 14-22 and 34-46 | again 0.72 after 18 days
	| sex female only | also 649:0.06 654:0.1 655:0.1 | icd9 646.83 646.93 646.13
649 Other conditions of the mother complicating pregnancy | rate 0.0066 | ages only 14-22 and 34-46
	| again 0.75 after 12 days | sex female only | causes 244×1.5 250×2 256×1.5 278×2.4 | also 646:0.1 654:0.1
	| icd9 648.83 648.03
654 Other and unspecified complications of birth | rate 0.013 | ages only 14-22 and 34-46
	| again 0.5 after 15 days | sex female only | causes 646×1.4 649×1.4 | icd9 654.13 654.93
655 Known or suspected fetal abnormality | rate 0.005 | ages only 14-22 and 34-46 | again 0.55 after 14 days
	| sex female only | icd9 655.73 655.93 656.53 655.83
`,
	},
	{
		category: "dermatologic",
		table: `
681 Superficial cellulitis and abscess | rate 0.017 | ages at least 0.55 rising 30-75 | again 0.35 after 6 days
	| season summer | causes 250×1.9 278×1.5 316×2 443×1.8 454×1.6 707×3 | also 041:0.08 771:0.08
	| icd9 682.6 682.9 681.00 682.3 682.2
686 Other local infections of skin | rate 0.014 | ages at least 0.3 falling 6-25 | again 0.25 after 9 days
	| season summer | icd9 686.9 684 686.8 686.00
690 Erythematosquamous dermatosis | rate 0.003 | ages at least 0.4 rising 15-40 | every 450 days | stays 0.7
	| carried 0.1 | icd9 690.10 690.18 690.12
695 Erythematous conditions | rate 0.0055 | ages rising 18-45 | again 0.35 after 55 days
	| sex female×1.3 male×0.7 | icd9 695.3 695.9 695.89
696 Psoriasis and related disorders | rate 0.0018 | ages rising 12-40 | every 190 days | stays 0.94
	| carried 0.3 | causes 278×1.5 318×1.3 | icd9 696.1 696.0 696.3
698 Pruritus and related conditions | rate 0.0083 | ages at least 0.5 rising 40-80 | again 0.25 after 15 days
	| causes 571×2 585×2.2 | icd9 698.9 698.8
700 Corns and callosities | rate 0.0039 | ages rising 40-75 | again 0.5 after 70 days
	| causes 250×2 443×2 735×2.5 | also 110:0.12 703:0.2 | icd9 700
702 Degenerative skin conditions | rate 0.018 | ages rising 42-75 | every 450 days | stays 0.85 | carried 0.1
	| also 172:0.03 216:0.15 | icd9 702.0 702.19 702.11
703 Diseases of nail | rate 0.0077 | ages at least 0.4 rising 45-80 | again 0.4 after 45 days
	| causes 250×2 443×2 | icd9 703.0 703.8 703.9
704 Diseases of hair and hair follicles | rate 0.0072 | ages between 8-18 and 50-80 | again 0.25 after 25 days
	| icd9 704.8 704.00 704.09
706 Diseases of sebaceous glands | rate 0.018 | ages at least 0.15 between 10-14 and 20-38 | every 190 days
	| stays 0.8 | carried 0.12 | icd9 706.1 706.2 706.3
707 Chronic ulcer of skin | rate 0.0009 | ages rising 50-84 | every 30 days | stays 0.88 | carried 0.4
	| deadly 1.4 | causes 250×4 290×2 342×3 356×2 443×5 454×2 | also 041:0.03 681:0.1
	| icd9 707.15 707.14 707.03 707.13 707.9
939 Atopic or contact dermatitis | rate 0.036 | ages at least 0.45 falling 4-25 | again 0.25 after 16 days
	| causes 476×1.4 495×1.5 | icd9 692.9 691.8 692.89
947 Urticaria | rate 0.0072 | ages at least 0.5 falling 6-40 | again 0.3 after 8 days | causes 476×1.5
	| icd9 708.9 708.0 708.8
`,
	},
	{
		category: "musculoskeletal",
		table: `
710 Osteomyelitis and other infections of bone | rate 0.00022 | ages at least 0.3 rising 45-75
	| again 0.75 after 12 days | causes 250×4 316×3 443×3 707×12 | also 041:0.2
	| icd9 730.27 730.07 730.20 730.17
714 Rheumatoid arthritis and other inflammatory polyarthropathies | rate 0.0014 | ages rising 28-62
	| every 115 days | carried 0.6 | sex female×1.4 male×0.6 | deadly 1.2 | causes 318×1.6 696×2 | also 745:0.15
	| icd9 714.0 714.9 714.30
716 Other arthropathies | rate 0.012 | ages rising 35-70 | again 0.3 after 25 days | causes 274×1.6 740×1.8
	| icd9 716.90 716.96 716.97 716.94
720 Spinal stenosis | rate 0.0029 | ages rising 52-78 | every 130 days | stays 0.92 | carried 0.3
	| causes 721×3 722×3 | also 760:0.25 764:0.08 | icd9 724.02 723.0 724.00
721 Spondylosis and allied disorders | rate 0.006 | ages rising 38-70 | every 175 days | stays 0.92
	| carried 0.25 | causes 722×2.4 740×1.5 | also 760:0.2 761:0.15 | icd9 721.3 721.0 721.90 721.2
722 Intervertebral disc disorders | rate 0.006 | ages rising 22-48 | every 120 days | stays 0.88 | carried 0.25
	| causes 278×1.3 318×1.3 760×1.6 | also 760:0.2 764:0.1 | icd9 722.52 722.10 722.4 722.73 722.0
726 Peripheral enthesopathies | rate 0.025 | ages between 15-38 and 68-88 | again 0.5 after 9 days
	| causes 250×1.3 278×1.4 | also 745:0.12 771:0.08 | icd9 726.10 726.32 726.71 726.5 726.90
727 Other disorders of synovium, tendon and bursa | rate 0.011 | ages rising 18-48 | again 0.4 after 14 days
	| causes 250×1.4 714×2 | icd9 727.03 727.61 727.05 727.00
728 Disorders of muscle, ligament and fascia | rate 0.015 | ages rising 18-50 | again 0.4 after 13 days
	| causes 278×1.5 | icd9 728.71 728.4 728.6 728.79
735 Acquired foot deformities | rate 0.006 | ages rising 32-70 | again 0.4 after 35 days
	| sex female×1.4 male×0.6 | causes 250×1.4 714×2 | also 110:0.08 700:0.1 771:0.1 | icd9 735.4 735.0 735.8
737 Curvature of spine | rate 0.0023 | ages at least 0.25 between 7-11 and 16-28 | every 295 days | stays 0.85
	| carried 0.15 | sex female×1.5 male×0.5 | causes 743×2 | also 760:0.15 | icd9 737.30 737.10 737.39
740 Osteoarthrosis | rate 0.019 | ages rising 42-72 | every 190 days | stays 0.96 | carried 0.35
	| sex female×1.2 male×0.8 | causes 278×1.8 714×1.5 835×2 | also 745:0.2
	| icd9 715.96 715.90 715.16 715.95 715.36
743 Osteoporosis, osteopenia and pathological fracture | rate 0.015 | ages rising 52-78 | every 400 days
	| carried 0.3 | sex female×1.7 male×0.3 | causes 252×2 496×1.4 627×1.3 714×1.8
	| icd9 733.00 733.90 733.01 733.13
745 Pain in joint | rate 0.047 | ages at least 0.15 rising 15-50 | again 0.35 after 11 days
	| causes 274×1.3 278×1.4 714×1.6 740×1.9 | icd9 719.46 719.41 719.45 719.47 719.40
`,
	},
	{
		category: "congenital anomalies",
		table: `
747 Cardiac and circulatory congenital anomalies | rate 0.003 | ages falling 1-4 | every 295 days | stays 0.9
	| carried 0.4 | deadly 1.3 | causes 758×15 | icd9 745.4 745.5 747.0 746.4
751 Genitourinary congenital anomalies | rate 0.0026 | ages falling 1-4 | every 350 days | stays 0.85
	| carried 0.2 | sex female×0.5 male×1.5 | also 591:0.04 | icd9 753.0 753.29 753.10 753.12
755 Congenital anomalies of limbs | rate 0.0037 | ages falling 1-4 | every 265 days | stays 0.8 | carried 0.15
	| icd9 754.30 755.69 754.51 754.50
758 Chromosomal anomalies and genetic disorders | rate 0.00068 | ages only 0-1 and 3-12 | every 265 days
	| carried 0.4 | deadly 1.8 | icd9 758.0 758.7
`,
	},
	{
		category: "symptoms",
		table: `
760 Back pain | rate 0.055 | ages rising 14-40 | again 0.48 after 7 days
	| causes 278×1.3 296×1.2 338×1.6 721×1.6 722×1.8 743×1.3 | icd9 724.2 724.5 724.1
761 Cervicalgia | rate 0.022 | ages rising 15-42 | again 0.48 after 7 days | causes 721×1.8 722×1.6 841×1.5
	| also 339:0.06 760:0.15 | icd9 723.1
764 Sciatica | rate 0.0066 | ages rising 22-50 | again 0.45 after 8 days | causes 720×2 722×2.5 | also 760:0.3
	| icd9 724.3
770 Myalgia and myositis | rate 0.0045 | ages rising 20-48 | every 190 days | stays 0.88 | carried 0.25
	| sex female×1.5 male×0.5 | causes 296×1.7 300×1.4 327×1.5 714×1.8 | also 798:0.12 | icd9 729.1
771 Musculoskeletal symptoms referable to limbs | rate 0.03 | ages at least 0.2 rising 25-65
	| again 0.25 after 12 days | causes 250×1.3 278×1.3 356×1.6 443×1.6 | icd9 729.81 729.82 729.89
782 Symptoms involving skin | rate 0.019 | ages at least 0.7 young and old×0.8 | again 0.15 after 9 days
	| causes 428×1.8 | icd9 782.3
783 Fever of unknown origin | rate 0.05 | ages at least 0.1 falling 2-10 | again 0.15 after 3 days
	| season winter | causes 197×1.5 204×4 | icd9 780.60 780.6 780.61
785 Abdominal pain | rate 0.039 | ages at least 0.6 rising 10-35 | again 0.25 after 7 days
	| sex female×1.2 male×0.8 | causes 300×1.3 555×1.8 564×1.8 574×1.6 577×2 | also 789:0.12
	| icd9 789.00 789.06 789.09 789.03 789.01
788 Syncope and collapse | rate 0.0044 | ages at least 0.3 rising 45-85 | again 0.25 after 7 days
	| causes 426×2.2 427×1.8 458×2 | also 276:0.06 386:0.1 | icd9 780.2
789 Nausea and vomiting | rate 0.014 | ages young and old×0.7 | again 0.2 after 5 days | also 276:0.12
	| icd9 787.01 787.03 787.02
790 Nonspecific findings on examination of blood | rate 0.0055 | ages rising 30-65 | again 0.3 after 45 days
	| causes 278×1.4 571×2.2 | icd9 790.6 790.99 790.1
798 Malaise and fatigue | rate 0.028 | ages at least 0.15 rising 15-50 | again 0.22 after 15 days
	| sex female×1.2 male×0.8 | causes 244×1.4 285×1.6 296×1.6 327×1.5 428×1.4 | icd9 780.79 780.71
`,
	},
	{
		category: "injuries & poisonings",
		table: `
800 Fracture of lower limb | rate 0.003 | ages young and old×3 | again 0.78 after 15 days | deadly 1.2
	| causes 290×2 332×2 350×1.5 743×2.5 | icd9 820.21 820.8 821.00 823.00
801 Fracture of ankle and foot | rate 0.005 | ages at least 0.5 between 5-12 and 22-45
	| again 0.72 after 14 days | causes 278×1.4 743×1.4 | icd9 824.8 825.25 826.0 824.2
803 Fracture of upper limb | rate 0.006 | ages young and old×1.3 | again 0.72 after 14 days | causes 743×2
	| icd9 813.41 812.00 813.42 810.00
804 Fracture of hand or wrist | rate 0.0044 | ages at least 0.3 between 5-12 and 22-45
	| again 0.62 after 13 days | sex female×0.6 male×1.4 | icd9 816.00 815.00 814.00 816.02
807 Fracture of ribs | rate 0.0017 | ages at least 0.1 rising 45-85 | again 0.4 after 12 days
	| causes 317×2.5 743×2 | also 418:0.08 | icd9 807.00 807.01 807.09
817 Concussion | rate 0.0039 | ages between 5-10 and 20-45 | again 0.45 after 9 days | also 339:0.2 870:0.1
	| icd9 850.9 850.0 850.11
835 Internal derangement of knee | rate 0.0066 | ages between 12-20 and 58-80 | again 0.68 after 10 days
	| causes 278×1.4 | also 745:0.3 | icd9 717.9 717.7 717.83
840 Sprains and strains | rate 0.036 | ages at least 0.25 between 5-12 and 22-45 | again 0.42 after 7 days
	| season summer | also 745:0.12 771:0.08 | icd9 845.00 840.9 842.00 844.9 840.4
841 Sprains and strains of back and neck | rate 0.022 | ages between 14-24 and 50-75 | again 0.6 after 6 days
	| also 760:0.2 761:0.2 | icd9 847.2 847.0 847.1 846.0
870 Open wounds of head, neck and trunk | rate 0.0099 | ages young and old×1 | again 0.35 after 6 days
	| sex female×0.7 male×1.3 | icd9 873.0 873.42 873.43
871 Open wounds of extremities | rate 0.014 | ages at least 0.5 between 5-12 and 22-45 | again 0.38 after 7 days
	| sex female×0.65 male×1.35 | icd9 883.0 882.0 891.0 892.0
912 Insect bite | rate 0.0066 | ages at least 0.35 falling 8-30 | again 0.12 after 5 days
	| season peak 205 swing 0.9 | icd9 919.4
916 Contusion | rate 0.022 | ages young and old×1.2 | again 0.22 after 8 days | causes 332×1.6 350×1.5
	| also 771:0.08 | icd9 924.8 924.11 923.3 924.9 920
930 Allergic reaction to food | rate 0.0022 | ages at least 0.2 falling 3-18 | again 0.35 after 40 days
	| causes 476×1.5 495×2 939×2 | icd9 693.1 995.60 995.61 V15.01
949 Allergies, other | rate 0.0066 | ages any | again 0.3 after 30 days | causes 476×2 495×1.6 | icd9 995.3
979 Adverse drug events and drug allergies | rate 0.0066 | ages at least 0.4 rising 30-75
	| again 0.2 after 20 days | causes 197×1.6 428×1.4 | icd9 995.27 995.20
994 Sepsis and SIRS | rate 0.00039 | ages rising 45-85 | again 0.5 after 5 days | deadly 1.5
	| causes 197×2 250×1.7 571×2 585×2.5 707×3 | also 038:0.4 276:0.3 480:0.2 509:0.25 591:0.2
	| icd9 995.91 995.92 995.90
`,
	},
];
