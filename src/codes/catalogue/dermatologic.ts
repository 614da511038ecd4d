import type { Chapter } from "../rules.js";

/** Number and name | ICD-9-CM | ICD-10-CM. How the rules read: ../rules.ts. */
export const dermatologic: Chapter = {
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
};
