import type { Chapter } from "../rules.js";

/** Number and name | ICD-9-CM | ICD-10-CM. How the rules read: ../rules.ts. */
export const circulatory: Chapter = {
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
};
