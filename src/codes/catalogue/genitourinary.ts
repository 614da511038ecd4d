import type { Chapter } from "../rules.js";

/** Number and name | ICD-9-CM | ICD-10-CM. How the rules read: ../rules.ts. */
export const genitourinary: Chapter = {
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
};
