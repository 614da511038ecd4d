import type { Chapter } from "../rules.js";

/** Number and name | ICD-9-CM | ICD-10-CM. How the rules read: ../rules.ts. */
export const digestive: Chapter = {
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
};
