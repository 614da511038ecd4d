import type { Chapter } from "../rules.js";

/** Number and name | ICD-9-CM | ICD-10-CM. How the rules read: ../rules.ts. */
export const respiratory: Chapter = {
	category: "respiratory",
	table: `
464 Acute sinusitis | 461 | J01
465 Acute upper respiratory infections of multiple or unspecified sites
	| 032.0-032.3 034.0 460 462 464-465 | A36.0-A36.2 J00 J02 J04-J06
470 Septal Deviations/Turbinate Hypertrophy | 470 478.0 | J34.2-J34.3
471 Nasal polyps | 471 | J33
472 Chronic pharyngitis and nasopharyngitis | 472 | J31
473 Diseases of the larynx and vocal cords | 476 478.3-478.7 784.4 V41.4 | J37-J38 R49
474 Acute and chronic tonsillitis | 463 474-475 | J03 J35-J36
475 Chronic sinusitis | 473 | J32
476 Allergic rhinitis | 477 | J30
477 Epistaxis or throat hemorrhage | 784.7-784.8 | R04.0-R04.1
478 Throat pain | 784.1 | R07.0
479 Other upper respiratory disease | 478 519.1 786.1 784.91 784.99
	| J34 J39 J98.0 R06.1 R09.81-R09.82
480 Pneumonia
	| 003.22 020.3-020.5 021.2 022.1 031.0 039.1 052.1 055.1 073.0 083.0 112.4 114.0 114.4-114.5
	130.4 136.3 480-486 513 V12.61
	| A02.22 A20.2 A21.2 A22.1 A31.0 A42.0 A43.0 A48.1 A78 B01.2 B05.2 B37.1 B38.0-B38.2 B58.3
	B59 J12-J18 J85 Z87.01
481 Influenza | 487-488 | J09-J11
483 Acute bronchitis and bronchiolitis | 466 | J20-J21
495 Asthma | 493 | J45
496 Chronic airway obstruction | 491-492 494 496 | J41-J44 J47
497 Bronchitis | 490 | J40
498 Acute bronchospasm | 519.11 | J98.01
499 Cystic fibrosis | 277.0 | E84
500 Lung disease due to external agents | 495 500-506 507 508 | J60-J68 J69 J70
501 Pneumonitis due to inhalation of food or vomitus | 507.0 | J69.0
502 Postinflammatory pulmonary fibrosis | 515 | J84.10 J84.17
503 Pulmonary congestion and hypostasis | 514 | J81.1
504 Other alveolar and parietoalveolar pneumonopathy | 516 518.6 | B44.81 J84
505 Other pulmonary inflamation or edema | 518.3-518.4 | J81-J82
506 Empyema and pneumothorax | 510 512 | J86 J93 J95.811
507 Pleurisy; pleural effusion | 511 | J90-J92 J94 R09.1
508 Pulmonary collapse; interstitial and compensatory emphysema | 518.0-518.2 | J98.1-J98.3
509 Respiratory failure, insufficiency, arrest | 518.5 518.8 799.1 V46.1-V46.2
	| J80 J95.1-J95.3 J95.82 J96 R09.2 Z99.1 Z99.81
510 Other diseases of lung | 517 518.89 996.84 V42.6 | J99 T86.81 Z94.2
512 Other symptoms of respiratory system | 786 786.05 786.07 786.09 786.52
	| R05 R06.0 R06.2 R07.1 R09
513 Respiratory abnormalities | 786.0 786.8 | R06
514 Abnormal findings examination of lungs | 793.1 794.2 | R91 R94.2
516 Abnormal sputum | 786.3-786.4 | R04.2-R04.9 R09.3
519 Other diseases of respiratory system, not elsewhere classified | 519 997.3 V12.6 | J95 J98
`,
};
