import type { Chapter } from "../rules.js";

/** Number and name | ICD-9-CM | ICD-10-CM. How the rules read: ../rules.ts. */
export const injuries: Chapter = {
	category: "injuries & poisonings",
	table: `
800 Fracture of lower limb | 820-823 827 905.3-905.4 V54.13-V54.16
	| S72 S79.0-S79.1 S82 S89.0-S89.1
801 Fracture of ankle and foot | 824-826
	| S82.5-S82.6 S82.84 S82.85 S82.87 S82.89 S89.2-S89.3 S92 S99.0-S99.2
802 Fracture of pelvis | 808 | S32.3-S32.9
803 Fracture of upper limb | 810-813 818-819 905.2 V54.10-V54.12
	| S42 S49.0-S49.1 S52 S59.0-S59.2
804 Fracture of hand or wrist | 814-817 | S62
805 Fracture of vertebral column | 805-806 905.1 V54.17 | S12 S22.0 S32.0-S32.2
807 Fracture of ribs | 807 | S22
809 Fracture of unspecified bones | 809 828-829 905.5 V54.19 |
816 Cerebral laceration and contusion | 851 | S06.31-S06.33 S06.37-S06.38
817 Concussion | 310.2 850 | F07.81 S06.0
818 Intracranial hemorrhage (injury) | 852-853 | S06.34-S06.36 S06.4-S06.6
819 Skull and face fracture and other intercranial injury | 800-804 854 905.0 V15.52
	| S02 S06 S06.???S Z87.820
823 Torus fracture of lower leg | 823.4 | S82.16 S82.31 S82.81-S82.82
830 Dislocation | 830-839 905.6 | M99.1 S03 S13 S23 S33 S43 S53 S63 S73 S83.0-S83.3 S93
835 Internal derangement of knee | 717 | M22-M23
836 Traumatic arthropathy | 716.1 | M12.5
840 Sprains and strains | 840-845
	| S43.4-S43.9 S46.?1 S53.2-S53.4 S56.?1 S63.3-S63.9 S66.?1 S73.1 S76.?1 S83.4-S83.9 S86.?1
	S93.4-S93.6 S96.?1
841 Sprains and strains of back and neck | 846-847 | S13.4 S13.8-S13.9 S16.1 S23.3 S33.5-S33.9
842 Other and ill-defined sprains and strains | 848 905.7
	| S03.4-S03.9 S13.5 S23.4-S23.9 S33.4 S39.01
	S43.4??S S43.5??S S43.6??S S53.4??S S63.3??S S63.5??S S63.6??S S83.4??S S83.5??S S93.4??S
850 Hemorrhage or hematoma complicating a procedure | 998.1
	| D78 E36.0 G97.3 G97.5 H59.1 H59.3 H95.2 H95.4 I97.4 I97.6 J95.6 J95.83 K91.6 K91.84
	L76.0 L76.2 M96.81 M96.83 N99.6 N99.82
851 Complications of transplants and reattached limbs | 996.8-996.9 | T86 T87.0-T87.2
853 Complication of colostomy or enterostomy | 569.6 | K94
854 Complications of cardiac/vascular device, implant, and graft
	| 996.0-996.1 996.71-996.72 996.74 | T82
855 Complication of nervous system device, implant, and graft | 996.2 996.75 | T85.0-T85.1
856 Vascular complications of surgery and medical procedures | 997.02 997.2 997.7 999.1-999.2
	| T80.0-T80.1 T81.7
857 Complication of genitourinary device, implant, and graft | 996.3 996.76 | T83
858 Complication of internal orthopedic device | 996.4 996.77-996.78 | M96.6 T84
859 Complication due to other implant and internal device | 996.5 996.70 996.79 | T85
870 Open wounds of head; neck; and trunk | 870-879 906.0
	| S01 S05 S08 S09.2-S09.3 S11 S16.2 S21 S28 S31 S38.2-S38.3 S39.02
871 Open wounds of extremities | 880-884 890-894 906.1
	| S41 S46.?2 S51 S56.?2 S61 S66.?2 S71 S76.?2 S81 S86.?2 S91 S96.?2
872 Traumatic amputation | 885-887 895-897 905.9 | S48 S58 S68 S78 S88 S98
873 Open wound of head with avulsion | |
874 Complication of amputation stump | 997.6 | T87.3-T87.9
875 Non-healing surgical wound | 998.83 |
876 Posttraumatic wound infection, not elsewhere classified | 958.3 |
905 Late effects of musculoskeletal and connective tissue injuries | 905 |
907 Injury to the nervous system | 907 950-951 953-957
	| S04 S14 S14.???S S24 S24.???S S34 S34.???S S44 S54 S64 S74 S84 S94
910 Superficial injury, infected | 91?.1 91?.7 91?.9 |
911 Blister | 91?.2 91?.3
	| S00.?2 S10.12 S10.82 S10.92 S20.12 S20.32 S20.42 S30.82 S40.22 S40.82 S50.32 S50.82 S60.32
	S60.42 S60.52 S60.82 S70.22 S70.32 S80.22 S80.82 S90.42 S90.52 S90.82
912 Insect bite | 91?.4 91?.5
	| S00.?6 S10.16 S10.86 S10.96 S20.16 S20.36 S20.46 S30.86 S40.26 S40.86 S50.36 S50.86 S60.36
	S60.46 S60.56 S60.86 S70.26 S70.36 S80.26 S80.86 S90.46 S90.56 S90.86
913 Toxic effect of venom | 989.5 | T63
915 Superficial injury without mention of infection |
	| S00 S05.0 S10 S20 S30 S40 S50 S60 S70 S80 S90
916 Contusion | 906.3 920-924
	| S00.?3 S05.1 S10.0 S10.83 S10.93 S20.0 S20.2 S30.0-S30.3 S40.0 S50.0-S50.1 S60.0-S60.2
	S70.0-S70.1 S80.0-S80.1 S90.0-S90.3
930 Allergic reaction to food | 477.1 558.3 693.1 995.6 E865.4 V15.01-V15.05
	| J30.5 K52.2 L27.2 T78.0 Z91.01
941 Adverse reaction to serum or vaccine | 780.63 978-979 999.5 E948-E949 V14.7
	| R50.83 T50.A T50.B T50.Z T80.6 Z88.7
942 Infusion and transfusion reaction | 518.7 780.66 999.4 999.6-999.8 E934.7
	| J95.84 R50.84 T80.3-T80.5 T80.8-T80.9
946 Anaphylactic shock NOS | 995.0 | T78.2 T88.6
949 Allergies, other | 995.3 V15.0 | T78 Z91.0
952 Spinal cord injury | 952 | S14.0-S14.1 S24.0-S24.1 S34.0-S34.1
957 Injury to unspecified nerve | 957.9
	| S14.9 S24.9 S34.9 S44.9 S54.9 S64.9 S74.9 S84.9 S94.9
958 Certain early complications of trauma or procedure | 958 998.0 998.6 | T79 T81.1
960 Poisoning by antibiotics | 960 E856 E930 V14.0-V14.1 | T36 Z88.0-Z88.1
961 Poisoning by other anti-infectives | 961 E857 E931 V14.2-V14.3 | T37 Z88.2-Z88.3
962 Poisoning by hormones and synthetic substitutes | 962 996.57 E858.0 E932
	| T38 T85.614 T85.624 T85.633 T85.694
963 Poisoning by primarily systemic agents | 528.01-528.02 538 963 E858.1 E933
	| K12.31-K12.32 T45.0-T45.4
964 Poisoning by agents primarily affecting blood constituents | 289.84 964 E858.2 E934
	| D75.82 T45.5-T45.9
965 Poisoning by analgesics, antipyretics, and antirheumatics | 965 E850 E935 V14.5-V14.6
	| T39-T40 Z88.5-Z88.6
966 Poisoning by anticonvulsants and anti-Parkinsonism drugs | 966 E855.0 E936
	| T42.0-T42.2 T42.5 T42.8
967 Adverse effects of sedatives or other central nervous system depressants and anesthetics
	| 967-968 E851-E853 E855.1-E855.2 E937-E938 V14.4 | T41 T42.3-T42.4 T42.6-T42.7 Z88.4
969 Poisoning by psychotropic agents | 969-970 E854 E939-E940 | T43
971 Poisoning by drugs primarily affecting the autonomic nervous system | 971 E855 E941 | T44
972 Poisoning by agents primarily affecting the cardiovascular system | 972 E858.3 E942 | T46
973 Poisoning by agents primarily affecting the gastrointestinal system | 973 E858.4 E943 | T47
974 Poisoning by water, mineral, and uric acid metabolism drugs | 974 E858.5 E944 | T50.0-T50.4
975 Poisoning by agents primarily acting on the smooth and skeletal muscles and respiratory system
	| 975 E858.6 E945 | T48
976 Poisoning by agents primarily affecting skin & mucous membrane, ophthalmological,
	otorhinolaryngological, & dental drugs | 976 E858.7 E946 | T49
977 Personal history of allergy to medicinal agents | V14 | Z88
979 Adverse drug events and drug allergies | 909.0 909.5 977 995.2 E858.8-E858.9 E947
	| T50 T88.7 T36-T50.???S +T36-T50.??5 +T36-T50.?5X
	T36.0X5 T36.1X5 T40.2X5 T42.75 T45.1X5 T45.515
981 Toxic effect of (non-ethyl) alcohol and petroleum and other solvents | 980-982 E860-E862
	| T51-T53
983 Toxic effect of corrosive aromatics, acids, and caustic alkalis | 983 E864 | T54
984 Toxic effect of lead and its compounds (including fumes) | 984 | M1A.1 T56.0
985 Toxic effect of other metals | 985 | T56 T57.0
986 Toxic effect of carbon monoxide | 986 E868 | T58
987 Toxic effect of other gases, fumes, or vapors | 987 | T59
988 Toxic effect of noxious substances eaten as food | 988 E865 | T61-T62
989 Toxic effect of other substances, chiefly nonmedicinal as to source | 909.1 989 E866
	| T51-T65.???S T55 T57 T60 T64-T65
990 Effects radiation NOS | 558.1 595.82 909.2 990 V15.3 | K12.33 K52.0 L58 N30.4 T66 Z92.3
994 Sepsis and SIRS | 785.52 995.9 | +A40-A41 R65
1000 Burns | | T20-T32
1001 Foreign body injury | | H44.6-H44.7 S05.4-S05.5 T15-T19
1002 Symptoms concerning nutrition, metabolism, and development | | R63
1004 Symptoms involving emotional state | | R45
1005 Other symptoms | | R68
1006 Crushing injury | | S07 S17 S28.0 S38.0-S38.1 S47 S57 S67 S77 S87 S97
1007 Injury to blood vessels | | S09.0 S15 S25 S35 S45 S55 S65 S75 S85 S95
1008 Crushing or internal injury to organs | | S21.3-S21.4 S26-S27 S31.0?1 S31.6 S36-S37
1009 Injury, NOS | | S09 S16 S19 S29 S39 S46 S49 S56 S59 S66 S69 S76 S79 S86 S89 S96 S99 T07 T14
1010 Other tests | | R76 R83-R85 R87-R89 Y84.8 Z11-Z13 Z20 Z22-Z23
1011 Complications of surgical and medical procedures | 997-999
	| E36 G97 H59 H95 I97.5 T80-T81 T82-T85.???S T88 Y62-Y65 Y83.1 Y84.2
1012 Late effect of injuries |
	| S09.???S S19.???S S29.???S S39.???S S46.???S S56.???S S66.???S S69.???S S76.???S S86.???S
	S96.???S T33-T34.???S T67-T79.???S
1013 Asphyxia and hypoxemia | 799.0 | R09.0
1014 Effects of heat, cold and air pressure | | T33-T34 T67-T70
1015 Effects of other external causes | | T71 T73-T76 T81.3 Z04 Z87.81 Z91.5 Z91.81
1019 Other ill-defined and unknown causes of morbidity and mortality | | R46 R69 R99
1100 Family history of a disease | | Z83-Z84
`,
};
