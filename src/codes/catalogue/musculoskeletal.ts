import type { Chapter } from "../rules.js";

/** Number and name | ICD-9-CM | ICD-10-CM. How the rules read: ../rules.ts. */
export const musculoskeletal: Chapter = {
	category: "musculoskeletal",
	table: `
710 Osteomyelitis, periostitis, and other infections involving bone | 003.24 730
	| A02.24 M46.2-M46.3 M86 M89.7 M90
711 Arthropathy associated with infections | 003.23 036.82 056.71 099.3 711
	| A02.23 A39.83-A39.84 B06.82 M00-M02
712 Infective connective tissue disorders | 728.0 728.86 | M60.0 M72.6
713 Arthropathy associated with other disorders classified elsewhere | 713 | M02.0 M02.2 M14
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
	| M88 M89.4 M89.6 M90.6 M90.8
732 Osteochondropathies | 732 | M42 M91-M93
733 Other disorders of bone and cartilage | 733 | M84-M85 M87 M89 M94
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
};
