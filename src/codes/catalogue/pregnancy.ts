import type { Chapter } from "../rules.js";

/** Number and name | ICD-9-CM | ICD-10-CM. How the rules read: ../rules.ts. */
export const pregnancy: Chapter = {
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
};
