import type { Chapter } from "../rules.js";

/** Number and name | ICD-9-CM | ICD-10-CM. How the rules read: ../rules.ts. */
export const infectious: Chapter = {
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
};
