import type { Chapter } from "../rules.js";

/** Number and name | ICD-9-CM | ICD-10-CM. How the rules read: ../rules.ts. */
export const symptoms: Chapter = {
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
};
