import type { Chapter } from "../rules.js";

/** Number and name | ICD-9-CM | ICD-10-CM. How the rules read: ../rules.ts. */
export const congenital: Chapter = {
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
};
